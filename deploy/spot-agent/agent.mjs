#!/usr/bin/env node
// The agent of one spot instance. It registers, sends heartbeats, asks the instance's metadata for notices every five
// seconds, and obeys its epoch: what was told once that it is no longer primary never serves again. It needs Node 20 or
// later and nothing else.
//
//   KEELSON_API        the API, as http://host:port
//   KEELSON_TOKEN      the client's token
//   KEELSON_AGENT      the agent's own name, the same on every instance that it ever runs on
//   KEELSON_METADATA   the metadata service (default http://169.254.169.254)
//   KEELSON_ROLE       "primary" on the first instance; everything that is launched later is a replica
//   KEELSON_EVERY_MS   how often metadata is asked (default 5000)
//
// Every change of its role is one line of JSON on stdout: {"role": "primary" | "replica" | "none", "epoch": 3}. Whatever
// starts and stops the application reads that.

const settings = {
  api: required('KEELSON_API'),
  token: required('KEELSON_TOKEN'),
  name: required('KEELSON_AGENT'),
  metadata: process.env.KEELSON_METADATA ?? 'http://169.254.169.254',
  isPrimary: process.env.KEELSON_ROLE === 'primary',
  everyMs: Number(process.env.KEELSON_EVERY_MS ?? 5_000),
};
const HEARTBEAT_MS = 30_000;
const TOKEN_SECONDS = 21_600;
const METADATA_MS = 5_000;
const API_MS = 20_000;

let role = null;
let epoch = null;
let stopping = false;
let metadataToken = null;
const told = new Set();

function required(name) {
  const value = process.env[name];
  if (value === undefined || value === '') {
    console.error(`${name} is not set`);
    process.exit(2);
  }
  return value;
}

async function ask(method, path, body) {
  const response = await fetch(`${settings.api}${path}`, {
    method,
    headers: { authorization: `Bearer ${settings.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(API_MS),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${answer.error?.message ?? ''}`);
  return answer;
}

/** Reads metadata by the second version of its protocol; null where there is nothing. */
async function readMetadata(path) {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    metadataToken ??= await newMetadataToken();
    const response = await fetch(`${settings.metadata}/latest/meta-data/${path}`, {
      headers: { 'x-aws-ec2-metadata-token': metadataToken },
      signal: AbortSignal.timeout(METADATA_MS),
    });
    if (response.status === 404) return null;
    if (response.ok) return response.text();
    metadataToken = null;
  }
  return null;
}

async function newMetadataToken() {
  const response = await fetch(`${settings.metadata}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(TOKEN_SECONDS) },
    signal: AbortSignal.timeout(METADATA_MS),
  });
  if (!response.ok) throw new Error(`the metadata service gives no token: ${response.status}`);
  return response.text();
}

function become(next, nextEpoch) {
  // The epoch only grows: an answer that was under way while another came is older than that one.
  if (epoch !== null && nextEpoch !== null && nextEpoch < epoch) return;
  if (next === role && nextEpoch === epoch) return;
  role = next;
  epoch = nextEpoch;
  console.log(JSON.stringify({ role, epoch }));
}

async function register(instanceId) {
  const az = (await readMetadata('placement/availability-zone')) ?? process.env.KEELSON_ZONE ?? '';
  const answer = await ask('POST', '/api/agents/register', {
    logical_agent_id: settings.name,
    instance_id: instanceId,
    instance_type: (await readMetadata('instance-type')) ?? process.env.KEELSON_TYPE ?? 'unknown',
    region: az.slice(0, -1),
    az,
    is_primary: settings.isPrimary,
  });
  if (!answer.config.enabled) {
    become('none', null);
    throw new Error(`the registration was rejected: ${answer.reason}`);
  }
  become(answer.role, answer.epoch);
  return answer.agent_id;
}

async function heartbeat(agent, instanceId) {
  const body = {
    instance_id: instanceId,
    status: stopping ? 'stopping' : 'running',
    ...(role === 'primary' ? { epoch } : {}),
    ...(role === 'replica' ? { replica: { state: 'ready', seconds_since_sync: 0 } } : {}),
  };
  const answer = await ask('POST', `/api/agents/${agent}/heartbeat`, body);
  if (answer.primary) become('primary', answer.epoch);
  else
    become(
      role === 'primary' || answer.message === 'you are no longer primary' ? 'none' : 'replica',
      answer.epoch,
    );
}

async function tellOnce(agent, kind, body) {
  const key = `${kind} ${JSON.stringify(body)}`;
  if (told.has(key)) return;
  const answer = await ask('POST', `/api/agents/${agent}/${kind}-notice`, body);
  told.add(key);
  console.error(`${kind} notice: ${answer.message}`);
  if (answer.data.primary_instance_id !== body.instance_id) become('none', answer.data.epoch);
}

async function lookForNotices(agent, instanceId) {
  const action = await readMetadata('spot/instance-action');
  if (action !== null) {
    const { action: what, time } = JSON.parse(action);
    await tellOnce(agent, 'termination', { instance_id: instanceId, action: what, time });
  }
  const rebalance = await readMetadata('events/recommendations/rebalance');
  if (rebalance !== null) {
    const { noticeTime } = JSON.parse(rebalance);
    await tellOnce(agent, 'rebalance', { instance_id: instanceId, notice_time: noticeTime });
  }
}

/** Repeats work for as long as the process lives; what fails is said, and tried again. */
function repeat(everyMs, work) {
  const run = async () => {
    try {
      await work();
    } catch (error) {
      console.error(error instanceof Error ? error.message : String(error));
    }
    setTimeout(() => void run(), everyMs);
  };
  void run();
}

/** Registers, and tries again for as long as it takes: an instance that boots may be faster than its network. */
async function begin() {
  for (;;) {
    try {
      const id = (await readMetadata('instance-id')) ?? required('KEELSON_INSTANCE');
      return { instanceId: id, agent: await register(id) };
    } catch (error) {
      console.error(error instanceof Error ? error.message : String(error));
      await new Promise((resolve) => setTimeout(resolve, settings.everyMs));
    }
  }
}

const { instanceId, agent } = await begin();
repeat(Math.min(HEARTBEAT_MS, settings.everyMs * 6), () => heartbeat(agent, instanceId));
repeat(settings.everyMs, () => lookForNotices(agent, instanceId));
process.once('SIGTERM', () => {
  stopping = true;
  heartbeat(agent, instanceId)
    .catch((error) => console.error(error instanceof Error ? error.message : String(error)))
    .finally(() => process.exit(0));
});
