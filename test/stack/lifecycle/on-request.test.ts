import { Etcd3 } from 'etcd3';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome } from '../../../deploy/local/home.ts';
import { isAlive, signal } from '../../../deploy/local/process-table.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { findSupervisor, startStack } from '../../../deploy/local/start.ts';
import { startTestStack } from '../../../deploy/local/testing.ts';

const PARTS = ['mariadb', 'moto', 'etcd-pool', 'prometheus'];
let stack: Awaited<ReturnType<typeof startTestStack>>;

beforeAll(async () => {
  stack = await startTestStack({ onlyParts: PARTS });
});

afterAll(async () => {
  await stack.stop();
});

test('MariaDB takes SQL', async () => {
  const connection = await createConnection(stack.addresses('mariadb')['sql'] ?? '');
  const [rows] = await connection.query('SELECT VERSION() AS version');
  await connection.end();
  expect(rows).toMatchObject([{ version: expect.stringContaining('MariaDB') }]);
});

test('the emulator answers for EC2', async () => {
  const body = new URLSearchParams({ Action: 'DescribeRegions', Version: '2016-11-15' });
  // The emulator tells by the credential's scope which service is meant; it checks no signature.
  const scope = 'Credential=test/20260101/eu-west-1/ec2/aws4_request';
  const authorization = `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=none`;
  const url = stack.addresses('moto')['api'] ?? '';
  const response = await fetch(url, { method: 'POST', body, headers: { authorization } });
  expect(await response.text()).toContain('<regionName>eu-west-1</regionName>');
});

test('the second etcd keeps keys', async () => {
  const client = new Etcd3({ hosts: stack.addresses('etcd-pool')['client'] ?? '' });
  await client.put('shard').value('primary');
  expect(await client.get('shard').string()).toBe('primary');
  client.close();
});

test('Prometheus knows whom to ask', async () => {
  const jobs = async (): Promise<readonly string[]> => {
    const response = await fetch(`${stack.addresses('prometheus')['web']}/api/v1/targets`);
    const { data } = (await response.json()) as { data: { activeTargets: { labels: { job: string } }[] } };
    return data.activeTargets
      .map(({ labels }) => labels.job)
      .toSorted((one, other) => one.localeCompare(other));
  };
  await expect.poll(jobs, { timeout: 30_000 }).toEqual(['starter', 'temporal', 'worker']);
});

test('each of them is adopted by a new supervisor', async () => {
  const supervisor = findSupervisor(openHome(stack.home));
  if (supervisor === undefined) throw new Error('nobody looks after the stack');
  const before = PARTS.map((name) => stack.part(name).process());
  signal(supervisor, 'SIGKILL');
  await expect.poll(() => isAlive(supervisor)).toBe(false);
  const { signal: never } = new AbortController();
  await startStack({ homeDirectory: stack.home, onlyParts: PARTS, progress: silentProgress, signal: never });
  expect(PARTS.map((name) => stack.part(name).process())).toEqual(before);
});
