import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CreateTagsCommand, EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { AgentState } from '../ec2/fleet.ts';
import type { Scene, Stage } from './scene.ts';

const NAME = 'shop';
const REGION = 'us-east-1';
const TYPE = 'm5.large';
const FIRST_ZONE = 'us-east-1a';
/** AWS gives two minutes; the demo is shorter. */
const NOTICE_MS = 20_000;
const LOOK_MS = 100;
const PATIENCE_MS = 30_000;

/** What the first act has made, and the second goes on with. */
interface Cast {
  readonly client: string;
  readonly imageId: string;
  readonly primary: string;
  readonly agent: string;
  /** When AWS has told that it takes the PRIMARY back. */
  readonly noticedAtMs: number;
}

/** An agent serves from a spot instance, and moves when AWS takes that back. Its agents are real processes. */
export const spotAgent: Scene = {
  parts: ['mariadb', 'ec2', 'spot-api'],
  target: (stage) => `spot-agent/${castOf(stage).client}/${castOf(stage).agent}`,
  acts: [
    {
      title: 'let an agent serve from a spot instance, with a replica in another pool',
      begin: startServing,
      async check(stage) {
        const { imageId, primary } = castOf(stage);
        const replica = await awaitRole(stage, imageId, 'replica', 0);
        return `${primary} serves, and ${replica} stands by`;
      },
    },
    {
      title: 'take that instance back, as AWS does',
      async begin(stage) {
        const cast = castOf(stage);
        const notice = { instanceId: cast.primary, kind: 'termination', inMs: NOTICE_MS };
        casts.set(stage, { ...cast, noticedAtMs: Date.now() });
        await control(stage, 'announce', notice);
      },
      async check(stage) {
        const { imageId, noticedAtMs } = castOf(stage);
        const primary = await awaitRole(stage, imageId, 'primary', 1);
        const seconds = ((Date.now() - noticedAtMs) / 1000).toFixed(1);
        return `${primary} serves with epoch 1 since at most ${seconds} s after the notice`;
      },
    },
  ],
};

const casts = new WeakMap<Stage, Cast>();

function castOf(stage: Stage): Cast {
  const cast = casts.get(stage);
  if (cast === undefined) throw new Error('the first act has not been played');
  return cast;
}

async function startServing(stage: Stage): Promise<void> {
  const { id: client, token } = await stage.addSpotClient(stage.namespace);
  const imageId = `ami-${randomBytes(8).toString('hex')}`;
  const api = stage.address('spot-api', 'http');
  // In AWS this is an image with the agent in it, and its settings in the user data.
  await control(stage, 'image', { imageId, api, token, agent: NAME, everyMs: 500 });
  const ec2 = new EC2Client({
    endpoint: stage.address('ec2', 'api'),
    region: REGION,
    credentials: { accessKeyId: 'demo', secretAccessKey: 'demo' },
  });
  try {
    const primary = await launch(ec2, imageId);
    await awaitRole(stage, imageId, 'primary', 0);
    const agent = await register(api, token, primary);
    casts.set(stage, { client, imageId, primary, agent, noticedAtMs: 0 });
    const tags = [{ Key: 'keelson:agent', Value: agent }];
    await ec2.send(new CreateTagsCommand({ Resources: [primary], Tags: tags }));
    const pools = ['us-east-1b', 'us-east-1c'].map((az) => ({ instance_type: TYPE, az }));
    const config = { manual_replica: true, launch: { image_id: imageId, pools } };
    await ask(api, token, 'PUT', `/api/agents/${agent}/config`, config);
  } finally {
    ec2.destroy();
  }
}

/** A person launches the first instance. */
async function launch(ec2: EC2Client, imageId: string): Promise<string> {
  const { Instances } = await ec2.send(
    new RunInstancesCommand({
      ImageId: imageId,
      InstanceType: TYPE,
      MinCount: 1,
      MaxCount: 1,
      Placement: { AvailabilityZone: FIRST_ZONE },
      InstanceMarketOptions: { MarketType: 'spot' },
      UserData: Buffer.from(JSON.stringify({ role: 'primary' })).toString('base64'),
    }),
  );
  const id = Instances?.[0]?.InstanceId;
  if (id === undefined) throw new Error('EC2 has launched nothing');
  return id;
}

/** The agent has registered already: a repetition is harmless, and says under which id. */
async function register(api: string, token: string, instanceId: string): Promise<string> {
  const answer = await ask(api, token, 'POST', '/api/agents/register', {
    logical_agent_id: NAME,
    instance_id: instanceId,
    instance_type: TYPE,
    region: REGION,
    az: FIRST_ZONE,
    is_primary: true,
  });
  return String((answer as { readonly agent_id?: unknown }).agent_id);
}

/** Waits until one of the scene's agents says that it has a role; gives its instance. */
async function awaitRole(stage: Stage, imageId: string, role: string, epoch: number): Promise<string> {
  const endMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const states = JSON.parse(await control(stage, 'agents', {})) as readonly AgentState[];
    const found = states.find((one) => one.imageId === imageId && one.role === role && one.epoch === epoch);
    if (found !== undefined) return found.instanceId;
    if (Date.now() > endMs) throw new Error(`no agent became ${role}: ${JSON.stringify(states)}`);
    await delay(LOOK_MS);
  }
}

async function control(stage: Stage, what: string, body: object): Promise<string> {
  const url = `${stage.address('ec2', 'api')}/control/${what}`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text;
}

async function ask(api: string, token: string, method: string, path: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${api}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
