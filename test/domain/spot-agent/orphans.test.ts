import { describe, expect, it } from 'vitest';
import {
  judgeOrphans,
  type Remembrance,
  type TaggedInstance,
} from '../../../workflows/spot-agent/domain/orphans.ts';

const MINUTE_MS = 60_000;
const NOW_MS = 100 * MINUTE_MS;
const instance = (change: Partial<TaggedInstance> = {}): TaggedInstance => ({
  id: 'i-1',
  agentId: 'agent-1',
  clientId: 'acme',
  replica: 'rep-1',
  launchedAtMs: 0,
  ...change,
});
const nothing: Remembrance = { nowMs: NOW_MS, agents: [], instances: [], replicas: [] };
const judge = (remembered: Partial<Remembrance>, change: Partial<TaggedInstance> = {}): readonly string[] =>
  judgeOrphans([instance(change)], { ...nothing, ...remembered }).map((one) => `${one.do}: ${one.reason}`);

describe('an instance that is tagged as an agent’s', () => {
  it('is its entity’s affair while the agent has a row', () => {
    expect(judge({ agents: ['agent-1'] })).toEqual([]);
  });

  it('is left alone for a moment after its launch', () => {
    const launchedAtMs = NOW_MS - 4 * MINUTE_MS;
    expect(judge({ replicas: [{ id: 'rep-1', agentId: 'agent-1' }] }, { launchedAtMs })).toEqual([]);
  });

  it('is ended when the agent is gone and its row is no PRIMARY’s', () => {
    expect(judge({ instances: [{ id: 'i-1', agentId: 'agent-1', isPrimary: false }] })).toEqual([
      'terminate: agent agent-1 has no row any more, and it was no PRIMARY',
    ]);
  });

  it('is ended when the agent is gone and only its replica is remembered', () => {
    expect(judge({ replicas: [{ id: 'rep-1', agentId: 'agent-1' }] })).toEqual([
      'terminate: agent agent-1 has no row any more, and it was launched for its replica rep-1',
    ]);
  });

  it('is only reported when it was PRIMARY', () => {
    expect(judge({ instances: [{ id: 'i-1', agentId: 'agent-1', isPrimary: true }] })).toEqual([
      'report: agent agent-1 has no row any more, and it was its PRIMARY: whether it still serves, a person knows',
    ]);
  });

  it.each([
    ['nothing is remembered', nothing],
    ['only another agent’s row is', { instances: [{ id: 'i-1', agentId: 'agent-2', isPrimary: false }] }],
    ['only another agent’s replica is', { replicas: [{ id: 'rep-1', agentId: 'agent-2' }] }],
  ])('is only reported when %s', (_, remembered) => {
    expect(judge(remembered)).toEqual([
      'report: agent agent-1 has no row any more, and nothing here remembers a launch of it: it may be another’s',
    ]);
  });
});
