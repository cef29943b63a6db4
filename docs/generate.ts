import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GENERATORS } from './generators/index.ts';
import { renderFiles } from './generators/section.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

for (const [file, text] of renderFiles(GENERATORS, (path) => readFileSync(path, 'utf8'))) {
  if (readFileSync(file, 'utf8') === text) continue;
  writeFileSync(file, text);
  console.log(`rewrote ${file}`);
}
