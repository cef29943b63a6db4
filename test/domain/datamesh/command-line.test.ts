import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { explainDatamesh } from '../../../starter/cli/commands/datamesh-explain.ts';
import { planDatamesh } from '../../../starter/cli/commands/datamesh-plan.ts';

let folder = '';
let stdout = '';
let stderr = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'datamesh-plan-'));
  stdout = stderr = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function file(name: string, data: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof data === 'string' ? data : JSON.stringify(data));
  return path;
}

const OBSERVED = {
  kernel: 'vanilla',
  q: 2,
  qmr: 1,
  configuration: { ftt: 1, gmdr: 0, topology: 'Ignored', volumeAccess: 'Any' },
  members: [
    { name: 'd1', type: 'D', node: 'n1', zone: 'a', upToDate: true, attached: false },
    { name: 'd2', type: 'D', node: 'n2', zone: 'b', upToDate: true, attached: false },
    { name: 'tb', type: 'TB', node: 'n3', zone: 'c', upToDate: false, attached: false },
  ],
};

describe('the command line', () => {
  test('prints the envelope as JSON and nothing else', async () => {
    const intent = file('intent.json', { op: 'ChangeMemberType', member: 'tb', from: 'TB', to: 'D' });
    expect(await planDatamesh({ observed: file('observed.json', OBSERVED), intent, output: 'json' })).toBe(0);
    const envelope = JSON.parse(stdout) as Record<string, unknown>;
    expect(envelope).toMatchObject({
      lifecycle: 'datamesh',
      operation: 'change-member-type',
      version: 1,
      blocked: [],
      unknown: [],
      transitions: [{ op: 'ChangeMemberType', member: 'tb', plan: 'tb-to-d/v1', group: 1 }],
    });
    expect(envelope['hash']).toMatch(/^sha256:/u);
    expect(stderr).toBe('');
  });

  test('answers 0 for a blocked plan, with the transition still listed', async () => {
    const intent = file('intent.json', [{ op: 'RemoveMember', member: 'tb' }]);
    expect(await planDatamesh({ observed: file('observed.json', OBSERVED), intent, output: 'json' })).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      transitions: [{ op: 'RemoveMember' }],
      blocked: [
        {
          intent: 'RemoveMember',
          member: 'tb',
          guard: 'TBRequired',
          message: 'TB required: D_count=2 even, FTT-BUA=1 = D/2',
        },
      ],
    });
  });

  test('lists a guard whose facts are missing as unknown', async () => {
    const intent = file('intent.json', { op: 'ForceRemove', member: 'd2' });
    expect(await planDatamesh({ observed: file('observed.json', OBSERVED), intent, output: 'json' })).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      blocked: [],
      unknown: [{ guard: 'NotConnected', needs: 'connectedTo of d2' }],
    });
  });

  test('answers 2 for bad input, in words on stderr and with nothing on stdout', async () => {
    expect(await planDatamesh({ observed: file('bad.json', { ...OBSERVED, q: 1 }), output: 'json' })).toBe(2);
    expect(await planDatamesh({ observed: file('broken.json', '{'), output: 'text' })).toBe(2);
    expect(
      await planDatamesh({
        observed: file('type.json', { ...OBSERVED, members: [{ name: 'x', type: 'Diskful', node: 'n' }] }),
        output: 'text',
      }),
    ).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/q=1 does not fit 2 voters[^]*members\[0\]\.type/u);
  });

  test('explains with a counter-example and a way out', async () => {
    const intent = file('intent.json', { op: 'RemoveMember', member: 'tb' });
    expect(await explainDatamesh({ observed: file('observed.json', OBSERVED), intent, output: 'text' })).toBe(
      0,
    );
    expect(stdout).toMatch(
      /blocked by TBRequired[^]*lose d1, and d2 are left with 1 of 2 votes[^]*Way out: Add a replacement TB/u,
    );
  });
});
