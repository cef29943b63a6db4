import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { defaultHomeDirectory, openHome } from '../../../deploy/local/home.ts';
import { createProgress } from '../../../deploy/local/progress.ts';
import { purgeHome, stopStack } from '../../../deploy/local/stop.ts';
import { examples, say } from '../output.ts';

/** `keelson down`: stops all that the stack has started. */
export function command(): Command {
  return new Command('down')
    .description(
      'Stop every process that the stack in this directory has started, and wait until all of them are gone.',
    )
    .option('--purge', 'remove its data, logs and settings too')
    .addHelpText(
      'after',
      examples(['keelson down', 'stop, and keep the data'], ['keelson down --purge', 'leave nothing behind']),
    )
    .action(async (options: { purge?: boolean }) => {
      if (!existsSync(defaultHomeDirectory())) {
        say(`There is no stack in ${defaultHomeDirectory()}.`);
        return;
      }
      const home = openHome();
      const progress = createProgress();
      const { wasRunning } = await stopStack(home, progress).finally(() => progress.close());
      if (!wasRunning) say(`Nothing was running for ${home.directory}.`);
      if (options.purge === true) {
        purgeHome(home);
        say(`Removed ${home.directory}.`);
      }
    });
}
