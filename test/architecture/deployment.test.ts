import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

interface Deployment {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly {
          readonly command: readonly string[];
          readonly env: readonly { readonly name: string }[];
        }[];
      };
    };
  };
}

const read = (file: string): string => readFileSync(file, 'utf8');
function deploymentOf(name: string): Deployment {
  const documents = parseAllDocuments(read(`deploy/kustomize/cluster/${name}.yaml`));
  const objects = documents.map((document) => document.toJS() as Deployment);
  const found = objects.find(({ kind }) => kind === 'Deployment');
  if (found === undefined) throw new Error(`deploy/kustomize/cluster/${name}.yaml has no Deployment`);
  return found;
}

describe('the image', () => {
  const copied = [...read('deploy/docker/Dockerfile').matchAll(/^COPY (\w+) \w+$/gm)].map(
    ([, name]) => name ?? '',
  );
  let room: string;

  beforeAll(() => {
    room = mkdtempSync(join(tmpdir(), 'keelson-image-'));
    for (const name of copied) cpSync(name, join(room, name), { recursive: true });
    cpSync('package.json', join(room, 'package.json'));
    symlinkSync(join(process.cwd(), 'node_modules'), join(room, 'node_modules'));
  });
  afterAll(() => rmSync(room, { recursive: true }));

  test.each(['worker/run.ts', 'starter/service.ts'])('holds all that %s needs', (entry) => {
    const script = `await import(${JSON.stringify(join(room, entry))}); process.exit(0)`;
    const args = ['--preserve-symlinks', '--input-type=module', '--eval', script];
    expect(() => execFileSync(process.execPath, args, { stdio: 'pipe' })).not.toThrow();
  });
});

describe.each([
  ['worker', 'worker/config.ts'],
  ['starter', 'starter/configuration.ts'],
])('the Deployment of the %s', (name, configuration) => {
  const { spec } = deploymentOf(name).spec.template;
  const [container] = spec.containers;

  test('sets only what the program reads', () => {
    const known = read(configuration);
    for (const { name: variable } of container?.env ?? []) expect(known).toContain(`${variable}:`);
  });

  test('runs the program, under the account that has its rights', () => {
    expect(container?.command).toEqual(['node', `${name}/main.ts`]);
    expect(read(`deploy/kustomize/base/${name}.yaml`)).toContain(`name: ${spec.serviceAccountName}`);
  });
});
