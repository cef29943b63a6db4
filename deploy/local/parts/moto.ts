import { dirname } from 'node:path';
import type { Artifact } from '../cache/artifact.ts';
import { pythonPackages, pythonProgram, pythonVersion } from '../cache/python-packages.ts';
import type { Part } from '../part.ts';
import { checkTcp } from '../readiness.ts';

const VERSION = '5.2.5';
const MODULE = 'moto/server.py';

/** The emulator and its libraries. */
const motoPackages: Artifact = {
  name: 'moto',
  version: VERSION,
  variant: pythonVersion,
  files: { [MODULE]: { verifiedBy: 'the exact version of a registry that never changes a version' } },
  sources: [pythonPackages(`moto[server,ec2,events,sqs]==${VERSION}`)],
};

/** EC2, SQS and EventBridge as an emulator answers for them. */
export const moto: Part = {
  name: 'moto',
  summary: 'an emulator of EC2, SQS and EventBridge',
  version: VERSION,
  starts: 'on-request',
  dependsOn: [],
  artifacts: [motoPackages],
  ports: { api: 15000 },
  graceMs: 5_000,
  addresses: (context) => ({ api: `http://127.0.0.1:${context.port('api')}` }),
  command: (context) => ({
    program: pythonProgram(),
    args: ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(context.port('api'))],
    env: { PYTHONPATH: dirname(dirname(context.file(motoPackages, MODULE))), PYTHONDONTWRITEBYTECODE: '1' },
  }),
  // Every page of its own lists all that it emulates, which takes it longer the more there is.
  checkReady: (context) => checkTcp(context.port('api')),
};
