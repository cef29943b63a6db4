import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Artifact } from '../cache/artifact.ts';
import { debianPackages } from '../cache/debian.ts';
import { pathPrograms } from '../cache/path-program.ts';
import { writeWhole } from '../files.ts';
import { pathOf } from '../home.ts';
import type { Part, PartContext } from '../part.ts';
import { checkHttp } from '../readiness.ts';

const SERVER = 'usr/bin/prometheus';

const prometheusPackages: Artifact = {
  name: 'prometheus',
  version: '2.42',
  files: { [SERVER]: { verifiedBy: "Debian's signature of the release" } },
  sources: [
    pathPrograms([SERVER], { args: ['--version'], fits: /version (2\.\d{2,}|[3-9])/ }),
    debianPackages({ release: 'machine', packages: ['prometheus'] }),
  ],
};

/** Who has metrics, by part and port. */
const TARGETS = [
  ['worker', 'health'],
  ['starter', 'health'],
  ['temporal', 'metrics'],
] as const;

/** Collects the metrics of the stack. */
export const prometheus: Part = {
  name: 'prometheus',
  summary: 'collects the metrics of the stack',
  version: '2.42',
  starts: 'on-request',
  dependsOn: [],
  artifacts: [prometheusPackages],
  ports: { web: 19090 },
  graceMs: 10_000,
  addresses: (context) => ({ web: url(context) }),
  async prepare(context) {
    mkdirSync(context.dataDirectory, { recursive: true });
    const jobs = TARGETS.map(([part, port]) => ({
      job_name: part,
      static_configs: [{ targets: [`127.0.0.1:${context.portOf(part, port)}`] }],
    }));
    writeWhole(configFile(context), stringify({ global: { scrape_interval: '2s' }, scrape_configs: jobs }));
  },
  command: (context) => ({
    program: context.file(prometheusPackages, SERVER),
    args: [
      `--config.file=${configFile(context)}`,
      `--storage.tsdb.path=${join(context.dataDirectory, 'series')}`,
      `--web.listen-address=127.0.0.1:${context.port('web')}`,
    ],
  }),
  checkReady: (context) => checkHttp(`${url(context)}/-/ready`),
};

function url(context: PartContext): string {
  return `http://127.0.0.1:${context.port('web')}`;
}

function configFile(context: PartContext): string {
  return pathOf.config(context.home, 'prometheus.yaml');
}
