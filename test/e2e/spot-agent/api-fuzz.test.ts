import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../starter/http/spot/endpoints.ts';
import { spotAgentId } from '../../../workflows/spot-agent/contract.ts';
import { SpotApi, type ApiClient } from './api-client.ts';
import { SpotWorld } from './spot-world.ts';

let world: SpotWorld;
let api: SpotApi;
let client: ApiClient;
let agent: string;
beforeAll(async () => {
  world = await SpotWorld.open();
  api = new SpotApi(world);
  client = await api.addClient();
  agent = await world.database.addAgent(1);
  await world.database.run('UPDATE agents SET client_id = ? WHERE id = ?', client.id, agent);
  for (const [at, id] of Object.keys(await world.statuses(agent)).entries())
    await world.database.run('UPDATE instances SET id = ? WHERE id = ?', INSTANCES[at] ?? '', id);
  await world.database.run('UPDATE agents SET instance_id = ? WHERE id = ?', INSTANCES[0], agent);
  // Its workflow answers, and does nothing by itself: whatever changes is changed by a request.
  const { body } = await client.ask('PUT', `/api/agents/${agent}/config`, {});
  expect(body).toMatchObject({ epoch: 0 });
  const entity = world.client.workflow.getHandle(spotAgentId({ namespace: client.id, name: agent }));
  await entity.executeUpdate('pause', { args: [{ reason: 'requests only' }] });
});
afterAll(async () => {
  await api.close();
  await world.close();
});

/** The PRIMARY and a replica. */
const INSTANCES = ['i-0000000000000001', 'i-0000000000000002'] as const;

/** What requests write of an agent; its phase is the workflow's. */
const WISHES = `id, client_id, epoch, generation, instance_id, region, status, auto_switch_enabled, manual_replica_enabled,
  auto_terminate_enabled, terminate_wait_seconds, launch_config, notice_status, notice_instance_id, switch_target`;

/** The parts of a JSON schema that the API's document uses. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
}

/** One operation of the document. */
interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** What a schema allows, and now and then anything else. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 20, arbitrary: likely(schema) }, { weight: 1, arbitrary: fc.jsonValue() });
}

function likely(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueOf));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(([key, one]) => [key, fieldOf(key, one)]);
      const shape = Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>;
      const more = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
      return fc.oneof(
        { weight: 4, arbitrary: fc.record(shape) },
        { weight: 2, arbitrary: fc.record(shape, { requiredKeys: [] }) },
        {
          weight: 1,
          arbitrary: fc.tuple(fc.record(shape), more).map(([record, extra]) => ({ ...record, ...extra })),
        },
      );
    }
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), { maxLength: 4 });
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.oneof(
        { weight: 4, arbitrary: fc.integer({ min: Math.max(schema.minimum ?? 0, 0), max: 50 }) },
        { weight: 1, arbitrary: fc.integer() },
        { weight: 1, arbitrary: fc.double() },
        { weight: 1, arbitrary: fc.constantFrom(0, -1, 1e308, Number.MAX_SAFE_INTEGER) },
      );
    case 'string':
      if (schema.format === 'date-time')
        return fc
          .oneof(fc.date({ noInvalidDate: true }), fc.integer({ min: -1e6, max: 1e6 }).map(fromNow))
          .map((date) => date.toISOString());
      return schema.pattern === undefined
        ? fc.string()
        : fc.stringMatching(new RegExp(schema.pattern), { size: 'xsmall' });
    default:
      return fc.constant(null);
  }
}

const fromNow = (ms: number): Date => new Date(Date.now() + ms);

/** An instance is now and then one that is there: only then is there something to be changed. */
const fieldOf = (key: string, schema: Schema): fc.Arbitrary<unknown> =>
  key.endsWith('instance_id') ? fc.oneof(fc.constantFrom(...INSTANCES), valueOf(schema)) : valueOf(schema);

it.each(ENDPOINTS)(
  '$method $path answers every request without a crash, and a refused one changes nothing',
  async (row) => {
    const document = (await api.server.inject({ url: '/openapi.json' })).json<{
      paths: Record<string, Record<string, Operation>>;
    }>();
    const operation = document.paths[row.path.replace(':id', '{id}')]?.[row.method.toLowerCase()];
    const schema = operation?.requestBody?.content['application/json']?.schema;
    const inQuery = operation?.parameters.filter((one) => one.in === 'query') ?? [];
    const query = fc.record(
      Object.fromEntries(inQuery.map((one) => [one.name, fieldOf(one.name, one.schema)])),
    );
    let reached = 0;
    const snapshot = async (): Promise<string> =>
      JSON.stringify([
        await world.database.rows(`SELECT ${WISHES} FROM agents`),
        await world.database.rows('SELECT id, agent_id, instance_status, version FROM instances'),
        await world.database.rows('SELECT id, agent_id, instance_id, status FROM replica_instances'),
      ]);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          { weight: 3, arbitrary: fc.constant(agent) },
          { weight: 1, arbitrary: fc.stringMatching(/^[\w.%-]{1,80}$/) },
        ),
        schema === undefined ? fc.jsonValue() : valueOf(schema),
        query,
        async (id, body, asked) => {
          const before = await snapshot();
          const search = new URLSearchParams(
            Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, String(value)])),
          );
          const url = `${row.path.replace(':id', encodeURIComponent(id))}?${search.toString()}`;
          const payload = row.method === 'GET' ? undefined : body;
          const { status } = await client.ask(row.method, url, payload);
          expect(status).toBeLessThan(500);
          if (status !== 400 && status !== 404) reached += 1;
          expect(status < 400 ? before : await snapshot()).toBe(before);
        },
      ),
      { numRuns: 60 },
    );
    expect(api.defects).toEqual([]);
    // What is refused at the door proves nothing of what is behind it.
    expect(reached).toBeGreaterThan(0);
  },
);
