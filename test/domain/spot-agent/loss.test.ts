import { expect, it } from 'vitest';
import { describeLoss } from '../../../workflows/spot-agent/domain/readiness.ts';
import { ago, sampleCloud, sampleInstance, sampleObservation, termination } from './sample-observation.ts';

const GONE = 'EC2 says that the PRIMARY is gone';
const listed = (state: 'running' | 'shutting-down' | 'terminated') => ({
  instances: [sampleCloud({ state })],
  prices: [],
});
const unlisted = { instances: [], prices: [] };

it.each([
  ['runs and speaks', listed('running'), 10, null],
  ['runs and is silent', listed('running'), 500, null],
  ['speaks, though EC2 says that it is terminated', listed('terminated'), 10, GONE],
  ['speaks, and ends', listed('shutting-down'), 10, 'EC2 says that the PRIMARY ends'],
  ['speaks, though EC2 knows nothing of it', unlisted, 10, null],
  ['is silent, and EC2 knows nothing of it', unlisted, 500, GONE],
  ['has never spoken, and EC2 knows nothing of it', unlisted, null, GONE],
  ['is silent while EC2 cannot be asked', null, 500, null],
] as const)('a PRIMARY that %s', (_, cloud, secondsSilent, loss) => {
  const lastHeartbeatMs = secondsSilent === null ? null : ago(secondsSilent);
  const observed = sampleObservation({ agent: { lastHeartbeatMs }, cloud });
  expect(describeLoss(observed, sampleInstance())).toBe(loss);
});

it('a PRIMARY that speaks is lost all the same when AWS has announced to take it back', () => {
  const observed = sampleObservation({ agent: { notice: termination() }, cloud: unlisted });
  expect(describeLoss(observed, sampleInstance())).toMatch(/AWS has announced/);
});
