import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../starter/http/spot/endpoints.ts';
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
});
afterAll(async () => {
  await api.close();
  await world.close();
});

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
}

/** What a schema allows, what it nearly allows, and anything else. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary: likely(schema) }, { weight: 1, arbitrary: fc.jsonValue() });
}

function likely(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueOf));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return fc
        .record(
          Object.fromEntries(
            Object.entries(schema.properties ?? {}).map(([key, one]) => [key, valueOf(one)]),
          ),
          {
            requiredKeys: [],
          },
        )
        .chain((record) =>
          fc.oneof(
            fc.constant(record),
            fc.dictionary(fc.string(), fc.jsonValue()).map((more) => ({ ...record, ...more })),
          ),
        );
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), { maxLength: 4 });
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -1, 1e308, Number.MAX_SAFE_INTEGER));
    case 'string':
      return schema.pattern === undefined ? fc.string() : fc.stringMatching(new RegExp(schema.pattern));
    default:
      return fc.constant(null);
  }
}

it.each(ENDPOINTS)(
  '$method $path answers every request without a crash, and a refused one changes nothing',
  async (row) => {
    const document = (await api.server.inject({ url: '/openapi.json' })).json<{
      paths: Record<
        string,
        Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>
      >;
    }>();
    const operation = document.paths[row.path.replace(':id', '{id}')]?.[row.method.toLowerCase()];
    const schema = operation?.requestBody?.content['application/json']?.schema;
    const snapshot = async (): Promise<string> =>
      JSON.stringify([
        await world.database.rows(`SELECT ${WISHES} FROM agents`),
        await world.database.rows('SELECT id, agent_id, instance_status, version FROM instances'),
        await world.database.rows('SELECT id, agent_id, instance_id, status FROM replica_instances'),
      ]);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constant(agent), fc.stringMatching(/^[\w.%-]{1,80}$/)),
        schema === undefined ? fc.jsonValue() : valueOf(schema),
        async (id, body) => {
          const before = await snapshot();
          const url = row.path.replace(':id', encodeURIComponent(id));
          const payload = row.method === 'GET' ? undefined : body;
          const { status } = await client.ask(row.method, url, payload);
          expect(status).toBeLessThan(500);
          expect(status < 400 ? before : await snapshot()).toBe(before);
        },
      ),
      { numRuns: 40 },
    );
    expect(api.defects).toEqual([]);
  },
);
