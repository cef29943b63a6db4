/** What a command ends with when it cannot go on: printed as one sentence, with what to do about it. */
export class CliError extends Error {
  readonly remedy: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { remedy?: string; exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliError';
    this.remedy = options.remedy;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The exit code for input that the command cannot make sense of. */
export const BAD_INPUT = 2;

/** Input that the user has to change before the command can run at all. */
export function badInput(message: string, remedy?: string): CliError {
  return new CliError(message, { exitCode: BAD_INPUT, ...(remedy === undefined ? {} : { remedy }) });
}

/** Any error as the sentence and the exit code that the command line ends with. */
export function explain(error: unknown): { text: string; exitCode: number } {
  const message = error instanceof Error ? error.message : String(error);
  const remedy = propertyOf(error, 'remedy');
  const exitCode = propertyOf(error, 'exitCode');
  const code = typeof exitCode === 'number' ? exitCode : 1;
  if (typeof remedy === 'string') return { text: `${message}\n  ${remedy}`, exitCode: code };
  return { text: message, exitCode: code };
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
