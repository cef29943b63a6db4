import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../deploy/local/testing.ts';
import { fileStore } from '../conformance/core/file-store.ts';
import { temporalTheatre, type TemporalTheatre } from '../conformance/core/temporal-theatre.ts';
import { runCampaign, type CampaignOptions, type CampaignResult } from './campaign.ts';
import { freezes } from './disturbances.ts';
import { lightUpUnderFaults } from './fixtures/light-up.ts';

const PROGRAM = fileURLToPath(new URL('./fixtures/lamp-fault-worker.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'harness-'));
const world = join(directory, 'world.json');
const afterwards = new AsyncDisposableStack();
let theatre: TemporalTheatre;
let workerEnv: NodeJS.ProcessEnv;

beforeAll(async () => {
  const stack = await useStack();
  const server = { address: stack.temporalAddress, namespace: await stack.createTemporalNamespace('faults') };
  theatre = await temporalTheatre(server, fileStore(world), () => Promise.resolve());
  workerEnv = { LAMP_ADDRESS: server.address, LAMP_NAMESPACE: server.namespace, LAMP_WORLD: world };
});
afterAll(async () => {
  await afterwards.disposeAsync();
  await theatre.close();
  rmSync(directory, { recursive: true });
});

let campaigns = 0;
function campaign(
  options: Partial<CampaignOptions>,
  operation = lightUpUnderFaults(theatre),
): Promise<CampaignResult> {
  campaigns += 1;
  return runCampaign(operation, {
    directory: join(directory, String(campaigns)),
    afterwards,
    workerEnv,
    workerProgram: PROGRAM,
    chained: 5,
    seed: '1',
    stuckSeconds: 100,
    deadlineMs: Infinity,
    disturbances: [],
    tell: () => {},
    say: () => {},
    ...options,
  });
}

const failed = ({ outcomes }: CampaignResult): readonly string[] =>
  outcomes.filter(({ ok }) => !ok).map(({ point, found }) => `${point}: ${found.join('; ')}`);

describe('a campaign', () => {
  it('kills at every request, result and wait, and finds nothing wrong with what is safe to repeat', async () => {
    const result = await campaign({});
    expect(failed(result)).toEqual([]);
    const points = result.outcomes.map(({ point }) => point);
    expect(points).toEqual(
      expect.arrayContaining([
        'light-up screwInLamp: before request row screw in Lamp #1',
        'light-up screwInLamp: after request row screw in Lamp #2',
        'light-up screwInLamp: before result #2',
        'light-up awaitLampWarm: while waiting #1',
        'light-up reportLampRow: before result #1',
        'entity observeLampRow: before result #2',
        'entity reportLampRow: before result #1',
      ]),
    );
    expect(new Set(points).size).toBe(points.length);
  });

  it('catches an activity that is unsafe to repeat', async () => {
    const careless = { ...workerEnv, LAMP_CARELESS: '1' };
    const result = await campaign({ workerEnv: careless, only: 'screwInLamp: after request' });
    const unsafe = result.outcomes.map(({ point, found }) => `${point}: ${found.join('; ')}`);
    expect(unsafe).toEqual([
      expect.stringMatching(
        /^light-up screwInLamp: after request .* #1: one lamp was used for each socket: /,
      ),
      expect.stringMatching(
        /^light-up screwInLamp: after request .* #2: one lamp was used for each socket: /,
      ),
    ]);
  });

  it('counts a point that no run comes to as a failure', async () => {
    const shorter = lightUpUnderFaults(theatre, (run) => (run.startsWith('recording') ? 2 : 1));
    const result = await campaign({ only: 'screwInLamp: before result' }, shorter);
    expect(failed(result)).toEqual([
      'light-up screwInLamp: before result #2: not one of 4 runs came to this point',
    ]);
  });

  it('freezes a worker so that two attempts run at once, in both ways', async () => {
    const result = await campaign({ only: 'freeze', disturbances: freezes });
    expect(failed(result)).toEqual([]);
    expect(result.outcomes.map(({ point }) => point)).toEqual(freezes.map(({ name }) => name));
  });

  it('fails when the operation does so without any fault', async () => {
    const operation = lightUpUnderFaults(theatre);
    const broken = { says: 'it is blue', broken: () => Promise.resolve('it is yellow') };
    const result = await campaign({}, { ...operation, invariants: [broken] });
    expect(failed(result)).toEqual(['recording-1: it is blue: it is yellow']);
  });

  it('ends within its budget, and lists what it did not come to', async () => {
    const result = await campaign({ only: 'screwInLamp: before request', deadlineMs: 0 });
    expect(result).toEqual({
      outcomes: [],
      skipped: [1, 2].map(
        (n) => `light-up screwInLamp: before request row screw in Lamp #${n} (out of budget)`,
      ),
    });
  });

  it('goes on where an earlier one ended', async () => {
    const only = 'screwInLamp: before request';
    const first = await campaign({ only });
    const second = await campaign({ only, passed: first.outcomes.slice(0, 1) });
    expect(second.outcomes.map(({ point }) => point)).toEqual(first.outcomes.map(({ point }) => point));
    expect(second.outcomes[0]).toBe(first.outcomes[0]);
  });
});
