import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../starter/cli/command-table.ts';
import { renderCompletion, SHELLS } from '../../../starter/cli/render/completion-script.ts';

/** What bash offers after these words, where `keelson completion resources` answers two ids. */
function offered(...words: readonly string[]): readonly string[] {
  const script = [
    'keelson() { printf "%s\\n" valkey-cluster/shop/cache valkey-cluster/shop/carts; }',
    renderCompletion('bash', COMMANDS),
    `COMP_WORDS=(${['keelson', ...words].map((word) => `'${word}'`).join(' ')})`,
    `COMP_CWORD=${words.length}`,
    '_keelson',
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n');
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
}

describe('the completion of bash', () => {
  it('offers the verbs', () => {
    expect(offered('')).toEqual(COMMANDS.map(({ name }) => name));
    expect(offered('st')).toEqual(['status', 'start']);
  });

  it('offers every resource that runs after a verb that takes one, and none after another', async () => {
    for (const { name, load } of COMMANDS) {
      const [first] = (await load()).command().registeredArguments;
      const takesResource = first?.name() === 'resource';
      const found = offered(name, 'valkey-cluster/shop/ca').includes('valkey-cluster/shop/carts');
      expect({ name, found }).toEqual({ name, found: takesResource });
    }
  });

  it('offers the shells', () => {
    expect(offered('completion', '')).toEqual([...SHELLS]);
  });
});
