import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../../e2e/starter/command-line.ts';
import { worldOn } from '../../plans/valkey-upgrade/shards-on-versions.ts';
import type { Ended } from '../../e2e/starter/command-line.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'plan-command-'));
  const write = (name: string, content: string): void => writeFileSync(join(directory, name), content);
  write(
    'cluster.yaml',
    'kind: Service\n---\napiVersion: valkey-operator.smoketurner.com/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache}\nspec: {masters: 3}\n',
  );
  write(
    'upgrade.yaml',
    'kind: ValkeyUpgrade\nmetadata: {name: up}\nspec: {clusterRef: {name: cache}, targetVersion: 9.1.2}\n',
  );
  write('nodes.json', JSON.stringify({ nodes: worldOn('9.0.0', 1).nodes }));
  write('teapot.yaml', 'kind: Teapot\nmetadata: {name: a}\n');
  write('broken.yaml', 'kind: [unclosed\n');
  write('empty.json', '{"nodes": []}');
  write('mesh.json', '{"kernel": "vanilla"}');
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** Runs `keelson plan` where nothing could be contacted. */
const plan = (...args: readonly string[]): Promise<Ended> =>
  keelson(['plan', ...args.map((arg) => (/\.(yaml|json)$/.test(arg) ? join(directory, arg) : arg))], {
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });

describe('keelson plan, offline', () => {
  it('plans the first resource in a manifest that some lifecycle is about, and contacts nothing', async () => {
    const ended = await plan('-f', 'cluster.yaml', '--observed', 'empty.json', '-o', 'json');
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(ended.out)).toMatchObject({
      lifecycle: 'valkey-cluster',
      resource: 'default/cache',
      operation: 'create',
      hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    const text = await plan('-f', 'cluster.yaml', '--observed', 'empty.json');
    expect(text.out).toMatch(/^valkey-cluster default\/cache: create, \d+ steps\n/);
  });

  it('plans an upgrade for the cluster that it names', async () => {
    const ended = await plan('-f', 'upgrade.yaml', '--observed', 'nodes.json');
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out).toMatch(/^valkey-cluster default\/cache: upgrade, \d+ steps\n/);
  });

  it.each([
    [
      'a kind that nobody knows',
      ['-f', 'teapot.yaml', '--observed', 'empty.json'],
      'there is no lifecycle or kind "Teapot"',
    ],
    ['a file that is no manifest', ['-f', 'empty.json', '--observed', 'empty.json'], 'it has no kind'],
    [
      'a file that is neither YAML nor JSON',
      ['-f', 'broken.yaml', '--observed', 'empty.json'],
      'neither YAML nor JSON',
    ],
    ['a file that is not there', ['-f', 'none.yaml', '--observed', 'empty.json'], 'cannot be read'],
    ['no word on what is wanted', ['--observed', 'empty.json'], 'it is not said what is to be planned'],
    [
      'an unknown lifecycle',
      ['--lifecycle', 'teapot', '--observed', 'empty.json'],
      'There is one for valkey-cluster, valkey-upgrade, datamesh',
    ],
    ['facts that are not facts', ['--lifecycle', 'datamesh', '--observed', 'mesh.json'], 'mesh.json'],
    [
      'intents without facts',
      ['--lifecycle', 'datamesh', '--intent', 'mesh.json'],
      '--intent needs --observed',
    ],
  ])('refuses %s with code 2 and a sentence on stderr', async (_, args, words) => {
    const ended = await plan(...args);
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(ended.err).toContain(words);
  });
});
