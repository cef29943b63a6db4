import { copyFile } from 'node:fs/promises';
import { prepareBundle } from './bundle.ts';
import { createLogger, temporalLogger } from './logger.ts';

// Writes the bundle of the workflows to a file, for an image whose worker then starts without building one:
//   node worker/build-bundle.ts workflows.js
const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('Say the file that the bundle goes to: node worker/build-bundle.ts workflows.js\n');
  process.exit(2);
}
await copyFile(await prepareBundle(temporalLogger(createLogger('warn'))), file);
