import { Command, Option } from 'commander';
import { examples, outputOption } from '../output.ts';
import type { OutputFormat } from '../output.ts';

interface ExplainOptions {
  readonly lifecycle: 'datamesh';
  readonly observed: string;
  readonly intent?: string;
  readonly output: OutputFormat;
}

/** `keelson explain`: why something is blocked, with what would go wrong otherwise. */
export function command(): Command {
  return new Command('explain')
    .description(
      'Say why something is blocked, with the course of events in which it would go wrong. It contacts nothing.',
    )
    .addOption(
      new Option('-l, --lifecycle <lifecycle>', 'the lifecycle').choices(['datamesh']).makeOptionMandatory(),
    )
    .requiredOption('--observed <file>', 'what was observed, as JSON')
    .option('--intent <file>', 'explicit intents')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        'keelson explain --lifecycle datamesh --observed mesh.json --intent remove.json',
        'why a member cannot go',
      ]),
    )
    .action(async ({ observed, intent, output }: ExplainOptions) => {
      const { explainDatamesh } = await import('./datamesh-explain.ts');
      process.exitCode = await explainDatamesh({
        observed,
        output,
        ...(intent === undefined ? {} : { intent }),
      });
    });
}
