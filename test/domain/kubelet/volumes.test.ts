import { X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KeyedData, Volume } from '../../../deploy/local/kubelet/api/objects.ts';
import { trimLog } from '../../../deploy/local/kubelet/container/files.ts';
import { AddressBook, formatAddress } from '../../../deploy/local/kubelet/node/addresses.ts';
import { createSelfSignedCertificate } from '../../../deploy/local/kubelet/server/certificate.ts';
import { writeAtomicDirectory } from '../../../deploy/local/kubelet/volumes/atomic-directory.ts';
import { buildProjection } from '../../../deploy/local/kubelet/volumes/projection.ts';
import { pod } from './pod-fixture.ts';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'kubelet-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const metadata = { name: 'x', namespace: 'default', uid: 'u' };
const facts = {
  pod: pod({}, { labels: { b: '2', a: '1' } }),
  node: { podIP: '127.41.1.7', hostIP: '127.41.0.1', allocatable: { cpu: '8' } },
  data: {
    configMaps: new Map<string, KeyedData>([
      ['conf', { metadata, data: { a: '1', b: '2' }, binaryData: { c: 'AAE=' } }],
    ]),
    secrets: new Map<string, KeyedData>([
      ['keys', { metadata, data: { k: Buffer.from('v').toString('base64') } }],
    ]),
  },
  tokens: new Map([['', 'jwt']]),
};

function filesOf(volume: Omit<Volume, 'name'>): string[] | undefined {
  return buildProjection({ name: 'v', ...volume }, facts)?.map(
    ({ path, content, mode }) => `${path}=${content.toString('latin1')} ${mode.toString(8)}`,
  );
}

describe('the content of a volume', () => {
  const projected = {
    sources: [
      { serviceAccountToken: { path: 'token' } },
      { configMap: { name: 'conf', items: [{ key: 'a', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: 0o400,
  };

  test.each([
    ['a ConfigMap', { configMap: { name: 'conf' } }, ['a=1 644', 'b=2 644', 'c=\u0000\u0001 644']],
    [
      'some keys of a ConfigMap',
      { configMap: { name: 'conf', items: [{ key: 'a', path: 'd/x', mode: 0o600 }] } },
      ['d/x=1 600'],
    ],
    ['a Secret with a mode', { secret: { secretName: 'keys', defaultMode: 0o400 } }, ['k=v 400']],
    ['an optional ConfigMap that is not there', { configMap: { name: 'none', optional: true } }, []],
    [
      'labels',
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      ['labels=a="1"\nb="2" 644'],
    ],
    ['projected sources', { projected }, ['token=jwt 400', 'ca.crt=1 400', 'namespace=default 400']],
  ] satisfies [string, Omit<Volume, 'name'>, string[]][])('%s', (_name, volume, files) => {
    expect(filesOf(volume)).toEqual(files);
  });

  test('a volume of another kind has no files', () => {
    expect(filesOf({ emptyDir: {} })).toBeUndefined();
  });

  test.each([
    [{ configMap: { name: 'none' } }, 'configmap "none" not found'],
    [{ secret: { secretName: 'none' } }, 'secret "none" not found'],
    [
      { configMap: { name: 'conf', items: [{ key: 'z', path: 'z' }] } },
      'references non-existent configmap key: z',
    ],
  ] satisfies [Omit<Volume, 'name'>, string][])('what is missing is named: %j', (volume, message) => {
    expect(() => filesOf(volume)).toThrow(message);
  });
});

describe('a directory that changes as a whole', () => {
  const file = (path: string, content: string) => ({ path, content: Buffer.from(content), mode: 0o640 });
  const visible = (): string[] =>
    readdirSync(directory)
      .filter((name) => !name.startsWith('..'))
      .sort();

  test('shows its files through one link', () => {
    writeAtomicDirectory(directory, [file('a', '1'), file('d/b', '2')]);
    expect(visible()).toEqual(['a', 'd']);
    expect(readlinkSync(join(directory, 'a'))).toBe('..data/a');
    expect(readFileSync(join(directory, 'd/b'), 'utf8')).toBe('2');
    expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o640);
  });

  test('takes new content and forgets the old', () => {
    writeAtomicDirectory(directory, [file('a', '1'), file('b', '1')]);
    expect(writeAtomicDirectory(directory, [file('a', '2')])).toBe(true);
    expect(visible()).toEqual(['a']);
    expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('2');
    expect(readdirSync(directory).filter((name) => name.startsWith('..2'))).toHaveLength(1);
  });

  test('touches nothing when nothing changed', () => {
    writeAtomicDirectory(directory, [file('a', '1')]);
    const before = readlinkSync(join(directory, '..data'));
    expect(writeAtomicDirectory(directory, [file('a', '1')])).toBe(false);
    expect(readlinkSync(join(directory, '..data'))).toBe(before);
    expect(existsSync(join(directory, before))).toBe(true);
  });
});

describe('pod addresses', () => {
  test('follow each other from block to block', () => {
    expect([0, 253, 254, 64_769].map((place) => formatAddress(41, place))).toEqual([
      '127.41.1.1',
      '127.41.1.254',
      '127.41.2.1',
      '127.41.255.254',
    ]);
  });

  test('are not given again soon, not even after a restart', () => {
    const file = join(directory, 'addresses');
    const first = new AddressBook(41, file);
    const given = first.allocate();
    first.release(given);
    const second = new AddressBook(41, file);
    expect([given, first.allocate(), second.allocate()]).toEqual(['127.41.1.1', '127.41.1.2', '127.41.1.2']);
  });

  test('pass over those in use', () => {
    const book = new AddressBook(41, join(directory, 'addresses'));
    book.reserve('127.41.1.1');
    expect(book.allocate()).toBe('127.41.1.2');
  });
});

test('the certificate of a node is one that its own key signed', () => {
  const { cert } = createSelfSignedCertificate('node-1');
  const parsed = new X509Certificate(cert);
  expect(parsed.subject).toBe('CN=node-1');
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(Date.parse(parsed.validTo)).toBeGreaterThan(Date.now());
});

test('a log that has grown too large keeps its end', () => {
  const file = join(directory, 'log');
  writeFileSync(file, Buffer.concat([Buffer.alloc(65 * 2 ** 20, 'x'), Buffer.from('the end\n')]));
  trimLog(file);
  expect(statSync(file).size).toBe(4 * 2 ** 20);
  expect(readFileSync(file, 'utf8').slice(-9)).toBe('xthe end\n');
});

test('a log of ordinary size is left alone', () => {
  const file = join(directory, 'log');
  writeFileSync(file, 'short\n');
  trimLog(file);
  trimLog(join(directory, 'none'));
  expect(readFileSync(file, 'utf8')).toBe('short\n');
});
