import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeWhole } from '../files.ts';
import { pathOf } from '../home.ts';
import type { Part, PartContext } from '../part.ts';

const PROGRAM = fileURLToPath(new URL('../provisioner/main.ts', import.meta.url));

/** Gives each claim a directory of this machine. */
export const provisioner: Part = {
  name: 'provisioner',
  summary: 'gives each volume claim a directory',
  version: '1',
  starts: 'always',
  dependsOn: ['kube-apiserver'],
  artifacts: [],
  ports: {},
  graceMs: 5_000,
  addresses: ({ home }) => ({ volumes: pathOf.volumes(home) }),
  async prepare(context) {
    const volumesDirectory = pathOf.volumes(context.home);
    mkdirSync(volumesDirectory, { recursive: true });
    const configuration = { kubeconfig: context.kubeconfig('provisioner'), volumesDirectory };
    writeWhole(configFile(context), `${JSON.stringify(configuration, undefined, 2)}\n`);
  },
  command: (context) => ({ program: process.execPath, args: [PROGRAM, configFile(context)] }),
  // It serves nobody: claims wait for it as they would for any provisioner.
  checkReady: async () => {},
};

function configFile(context: PartContext): string {
  return pathOf.config(context.home, 'provisioner.json');
}
