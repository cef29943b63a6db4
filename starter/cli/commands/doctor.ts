import { Command } from 'commander';
import { examine } from '../../../deploy/local/doctor.ts';
import type { Finding } from '../../../deploy/local/doctor.ts';
import { examples, outputOption, print, printJson, say, table } from '../output.ts';
import type { OutputFormat } from '../output.ts';

const MARKS: Readonly<Record<Finding['state'], string>> = { present: '✓', absent: '…', missing: '✗' };

/** `keelson doctor`: what is missing for what, and how to get it. */
export function command(): Command {
  return new Command('doctor')
    .description(
      'Look at all that the stack needs on this machine. Nothing is fetched. The exit code is 1 when something is missing.',
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(['keelson doctor', 'a table'], ['keelson doctor -o json', 'the same for a script']),
    )
    .action(async (options: { output: OutputFormat }) => {
      const findings = await examine();
      if (options.output === 'json') printJson(findings);
      else show(findings);
      if (findings.some(({ state }) => state === 'missing')) process.exitCode = 1;
    });
}

function show(findings: readonly Finding[]): void {
  const rows = findings.map(({ what, state, detail, neededBy }) => [
    MARKS[state],
    what,
    neededBy.join(', '),
    detail,
  ]);
  print(table([['', 'WHAT', 'NEEDED BY', 'WHERE'], ...rows]));
  const count = (state: Finding['state']): number =>
    findings.filter((finding) => finding.state === state).length;
  const [absent, missing] = [count('absent'), count('missing')];
  if (absent > 0) say(`${absent} of them will be fetched when they are first needed.`);
  say(missing === 0 ? 'Nothing is missing.' : `${missing} of them need you first.`);
}
