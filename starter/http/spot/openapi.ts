import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { agentParams, errorAnswer } from './schemas.ts';

const ERRORS: Readonly<Record<string, string>> = {
  400: 'The request is malformed, or asks for something that cannot be.',
  401: 'The token is missing or unknown.',
  404: 'There is no such agent of this client.',
  409: 'The instance is not PRIMARY any more, or the request contradicts what is there.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Too many requests: come again after Retry-After seconds.',
  503: 'The database or Temporal does not answer: try again.',
};

const json = (schema: z.ZodType, io: 'input' | 'output') => ({
  'application/json': { schema: z.toJSONSchema(schema, { io }) },
});

/** The API as a document, from the very rows that serve it. */
export function buildOpenApi(endpoints: readonly Endpoint[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const row of endpoints) {
    const path = row.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Keelson spot agents', version: '1' },
    security: [{ token: [] }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    paths,
  };
}

function operationOf(row: Endpoint): object {
  const inPath = row.path.includes(':id')
    ? [{ name: 'id', in: 'path', required: true, schema: z.toJSONSchema(agentParams.shape.id) }]
    : [];
  const inQuery =
    row.query instanceof z.ZodObject
      ? Object.entries(row.query.shape).map(([name, schema]) => ({
          name,
          in: 'query',
          required: true,
          schema: z.toJSONSchema(schema as z.ZodType),
        }))
      : [];
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: 190 },
  };
  return {
    operationId: row.name,
    summary: row.summary,
    parameters: [...inPath, ...inQuery, ...(row.method === 'GET' ? [] : [key])],
    ...(row.body === undefined ? {} : { requestBody: { required: true, content: json(row.body, 'input') } }),
    responses: {
      200: { description: 'It is done, or will be as the answer says.', content: json(row.answer, 'output') },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          { description, content: json(errorAnswer, 'output') },
        ]),
      ),
    },
  };
}
