import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentIdOf } from '../../../starter/http/spot/registration.ts';
import { SpotApi, type ApiClient } from './api-client.ts';
import { SpotWorld } from './spot-world.ts';

const PROGRAM = fileURLToPath(new URL('../../../deploy/spot-agent/agent.mjs', import.meta.url));

let world: SpotWorld;
let api: SpotApi;
let client: ApiClient;
let address: string;
const processes: ChildProcess[] = [];
beforeAll(async () => {
  world = await SpotWorld.open();
  api = new SpotApi(world);
  client = await api.addClient();
  address = await api.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  for (const child of processes.filter((one) => one.exitCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await api.close();
  await world.close();
});

/** Starts the agent as it runs on an instance, and keeps the roles that it says it has. */
function startAgent(name: string, instanceId: string, role: 'primary' | 'replica'): readonly string[] {
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      ...process.env,
      KEELSON_API: address,
      KEELSON_TOKEN: client.token,
      KEELSON_AGENT: name,
      KEELSON_METADATA: `${world.ec2.url}/metadata/${instanceId}`,
      KEELSON_ROLE: role,
      KEELSON_EVERY_MS: '200',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  const roles: string[] = [];
  createInterface(child.stdout).on('line', (line) => {
    const { role: said, epoch } = JSON.parse(line) as {
      readonly role: string;
      readonly epoch: number | null;
    };
    roles.push(`${said} ${epoch}`);
  });
  return roles;
}

it('moves from instance to instance: the old agent stops serving, and the new one serves with the next epoch', async () => {
  const id = agentIdOf(client.id, 'shop');
  const first = await world.ec2.activities.launchEc2Instance(
    world.ec2.launchOf(id, { az: 'us-east-1a', clientId: client.id }),
  );
  const old = startAgent('shop', first.instanceId, 'primary');
  await world.until('the agent serves', id, async () => old.at(-1) === 'primary 0');
  const launch = {
    image_id: world.ec2.imageId,
    pools: ['us-east-1b', 'us-east-1c'].map((az) => ({ instance_type: 'm5.large', az })),
  };
  await client.ask('PUT', `/api/agents/${id}/config`, { manual_replica: true, launch });
  let replica = '';
  await world.until('a replica is launched', id, async () => {
    const [row] = await world.database.rows(
      'SELECT instance_id AS instance FROM replica_instances WHERE agent_id = ?',
      id,
    );
    replica = typeof row?.['instance'] === 'string' ? row['instance'] : '';
    return replica !== '';
  });
  const next = startAgent('shop', replica, 'replica');
  await world.until('the replica is ready', id, async () => {
    const [row] = await world.database.rows('SELECT status FROM replica_instances WHERE agent_id = ?', id);
    return row?.['status'] === 'ready';
  });
  await world.ec2.announce(first.instanceId, 'termination');
  await world.until('the old one stops and the new one serves', id, async () => {
    return old.at(-1) === 'none 1' && next.at(-1) === 'primary 1';
  });
  expect(await world.database.primaries(id)).toEqual([replica]);
  expect(old).toEqual(['primary 0', 'none 1']);
  expect(api.defects).toEqual([]);
});
