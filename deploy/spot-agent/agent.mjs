#!/usr/bin/env node
// The agent of one spot instance. It registers, sends heartbeats, asks the instance's metadata for notices every five
// seconds, and obeys its epoch: what was told once that it is no longer primary never serves again, and what has not
// been told for a while that it still is does not serve until it is told so. It needs Node 20 or later and nothing else.
//
//   KEELSON_API        the API, as http://host:port
//   KEELSON_TOKEN      the client's token
//   KEELSON_AGENT      the agent's own name, the same on every instance that it ever runs on
//   KEELSON_METADATA   the metadata service (default http://169.254.169.254)
//   KEELSON_ROLE       "primary" on the first instance; everything that is launched later is a replica
//   KEELSON_EVERY_MS   how often metadata is asked (default 5000)
//   KEELSON_LEASE_SECONDS   for how long a primary serves without a confirmation of its epoch (default 120, after which
//                           its silence is suspected; 0: for ever)
//   KEELSON_READY_FILE      a replica is ready while this file is there; the application touches it when it has synced
//   KEELSON_READY_COMMAND   or while this command of the shell ends with 0; it may print the seconds since the last sync
//
// Without the last two a replica is ready as soon as its agent runs. Every change of its role is one line of JSON on
// stdout: {"role": "primary" | "replica" | "none", "epoch": 3}, with a "reason" where it stopped by itself. Whatever
// starts and stops the application reads that.

import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';

const settings = {
  api: required('KEELSON_API'),
  token: required('KEELSON_TOKEN'),
  name: required('KEELSON_AGENT'),
  metadata: process.env.KEELSON_METADATA ?? 'http://169.254.169.254',
  isPrimary: process.env.KEELSON_ROLE === 'primary',
  everyMs: Number(process.env.KEELSON_EVERY_MS ?? 5_000),
  leaseMs: leaseMs(process.env.KEELSON_LEASE_SECONDS ?? '120'),
  readyFile: process.env.KEELSON_READY_FILE,
  readyCommand: process.env.KEELSON_READY_COMMAND,
};
const HEARTBEAT_MS = 30_000;
const TOKEN_SECONDS = 21_600;
const METADATA_MS = 5_000;
const API_MS = 20_000;
const READY_MS = 10_000;
/** Several heartbeats may be lost before the lease is over. */
const HEARTBEATS_PER_LEASE = 4;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

let role = null;
let epoch = null;
let lapsed = false;
let leaseTimer;
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

function leaseMs(text) {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0) return seconds === 0 ? Infinity : seconds * 1_000;
  console.error('KEELSON_LEASE_SECONDS is no number of seconds');
  process.exit(2);
}

async function ask(method, path, body) {
  const response = await fetch(`${settings.api}${path}`, {
    method,
    headers: { authorization: `Bearer ${settings.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(Math.ceil(Math.min(API_MS, settings.leaseMs / 2))),
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

function become(next, nextEpoch, reason) {
  // The epoch only grows: an answer that was under way while another came is older than that one.
  if (epoch !== null && nextEpoch !== null && nextEpoch < epoch) return;
  if (next === role && nextEpoch === epoch) return;
  role = next;
  epoch = nextEpoch;
  lapsed = false;
  console.log(JSON.stringify({ role, epoch, reason }));
}

/**
 * Serves as primary for one lease from when the question was sent: the API may have suspected it since then, but not
 * before. The clock is one that nobody sets.
 */
function confirm(nextEpoch, sentAtMs) {
  const leftMs = sentAtMs + settings.leaseMs - performance.now();
  if (leftMs <= 0) return;
  become('primary', nextEpoch);
  if (role !== 'primary' || epoch !== nextEpoch) return;
  clearTimeout(leaseTimer);
  if (leftMs < LONGEST_TIMER_MS) leaseTimer = setTimeout(lapse, leftMs);
}

function lapse() {
  if (role !== 'primary') return;
  const reason = `no confirmation of epoch ${epoch} for ${settings.leaseMs / 1_000} s`;
  console.error(`no longer serving: ${reason}`);
  become('none', epoch, reason);
  lapsed = true;
}

/** What a replica says of itself: what the application says where it was asked to, and otherwise that it is ready. */
async function readiness() {
  if (settings.readyFile !== undefined) return readinessByFile(settings.readyFile);
  if (settings.readyCommand !== undefined) return readinessByCommand(settings.readyCommand);
  return { state: 'ready', seconds_since_sync: 0 };
}

async function readinessByFile(file) {
  try {
    return readySince((Date.now() - (await stat(file)).mtimeMs) / 1_000);
  } catch (error) {
    if (error.code === 'ENOENT') return { state: 'syncing' };
    return { state: 'syncing', error: error.message.slice(0, 1_000) };
  }
}

function readinessByCommand(command) {
  return new Promise((resolve) => {
    execFile('/bin/sh', ['-c', command], { timeout: READY_MS }, (error, out) => {
      if (error === null) return resolve(readySince(Number(out)));
      // A number is how the command ended; anything else kept it from being asked.
      const failed = typeof error.code === 'number' ? {} : { error: error.message.slice(0, 1_000) };
      return resolve({ state: 'syncing', ...failed });
    });
  });
}

/** A sync that is not known to be longer ago is of now. */
const readySince = (seconds) => ({
  state: 'ready',
  seconds_since_sync: seconds > 0 ? Math.min(seconds, 86_400) : 0,
});

async function register(instanceId) {
  const az = (await readMetadata('placement/availability-zone')) ?? process.env.KEELSON_ZONE ?? '';
  const sentAtMs = performance.now();
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
  if (answer.role === 'primary') confirm(answer.epoch, sentAtMs);
  else become(answer.role, answer.epoch);
  return answer.agent_id;
}

async function heartbeat(agent, instanceId) {
  const body = {
    instance_id: instanceId,
    status: stopping ? 'stopping' : 'running',
    ...(role === 'primary' || lapsed ? { epoch } : {}),
    ...(role === 'replica' ? { replica: await readiness() } : {}),
  };
  const sentAtMs = performance.now();
  const answer = await ask('POST', `/api/agents/${agent}/heartbeat`, body);
  if (answer.primary) confirm(answer.epoch, sentAtMs);
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
const heartbeatMs = Math.min(HEARTBEAT_MS, settings.everyMs * 6, settings.leaseMs / HEARTBEATS_PER_LEASE);
repeat(heartbeatMs, () => heartbeat(agent, instanceId));
repeat(settings.everyMs, () => lookForNotices(agent, instanceId));
process.once('SIGTERM', () => {
  stopping = true;
  heartbeat(agent, instanceId)
    .catch((error) => console.error(error instanceof Error ? error.message : String(error)))
    .finally(() => process.exit(0));
});
