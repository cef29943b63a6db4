import { fileURLToPath } from 'node:url';
import type { Part } from '../part.ts';
import { spotQueueUrl } from './ec2.ts';
import { checkHttp } from '../readiness.ts';

const PROGRAM = fileURLToPath(new URL('../../../starter/http/main.ts', import.meta.url));

/** The HTTP API of the spot agents. */
export const spotApi: Part = {
  name: 'spot-api',
  summary: 'the HTTP API of the spot agents',
  version: '0.1.0',
  starts: 'on-request',
  dependsOn: ['temporal', 'mariadb', 'ec2'],
  artifacts: [],
  ports: { http: 19466, metrics: 19467 },
  graceMs: 10_000,
  addresses: (context) => ({
    http: `http://127.0.0.1:${context.port('http')}`,
    metrics: `http://127.0.0.1:${context.port('metrics')}/metrics`,
  }),
  command: (context) => ({
    program: process.execPath,
    args: [PROGRAM],
    env: {
      TEMPORAL_ADDRESS: `127.0.0.1:${context.portOf('temporal', 'frontend')}`,
      TEMPORAL_NAMESPACE: 'default',
      KEELSON_MYSQL_URL: `mysql://root@127.0.0.1:${context.portOf('mariadb', 'sql')}/keelson`,
      KEELSON_SPOT_PORT: String(context.port('http')),
      KEELSON_SPOT_METRICS_PORT: String(context.port('metrics')),
      KEELSON_SPOT_QUEUE_URL: spotQueueUrl(context),
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'embedded',
      AWS_SECRET_ACCESS_KEY: 'embedded',
    },
  }),
  checkReady: (context) => checkHttp(`http://127.0.0.1:${context.port('http')}/healthz`),
};
