import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openHome, pathOf } from '../../deploy/local/home.ts';
import { silentProgress } from '../../deploy/local/progress.ts';
import { purgeHome, stopStack } from '../../deploy/local/stop.ts';

/** Stops and removes every stack whose home lies in this directory, and answers the homes of those that still ran. */
export async function sweepStacks(directory: string): Promise<readonly string[]> {
  const ran: string[] = [];
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (!existsSync(join(path, 'config'))) continue;
    const home = openHome(path);
    if (!existsSync(pathOf.settings(home))) continue;
    const { wasRunning } = await stopStack(home, silentProgress);
    if (wasRunning) ran.push(path);
    purgeHome(home);
  }
  return ran;
}
