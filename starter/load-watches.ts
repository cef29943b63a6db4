import { readdirSync } from 'node:fs';
import type { LifecycleWatch } from './watch-definition.ts';

/** Every lifecycle that has a file in `watches/`: adding one is adding a file. */
export async function loadWatches(): Promise<readonly LifecycleWatch[]> {
  const directory = new URL('./watches/', import.meta.url);
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.ts'))
    .sort();
  const modules = await Promise.all(
    files.map((file) => import(new URL(file, directory).href) as Promise<{ readonly watch: LifecycleWatch }>),
  );
  return modules.map(({ watch }) => watch);
}
