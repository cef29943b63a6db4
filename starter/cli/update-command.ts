import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { withEntity } from './live-command.ts';
import type { LiveOptions } from './live-command.ts';
import { print, printJson } from './output.ts';

/** Sends one update to an entity and prints what it answers; a refusal ends the command in the entity's own words. */
export async function runUpdate(
  words: readonly string[],
  options: LiveOptions,
  name: string,
  input?: unknown,
): Promise<void> {
  await withEntity(words, options, async (entity) => {
    const { message } = await entity.update(name, input);
    if (options.output === 'json') printJson({ workflowId: entity.target.workflowId, message });
    else print(`${entity.target.workflowId}: ${message}`);
  });
}

/** Adds the reason that a person must give. */
export const withReason = (command: Command): Command =>
  command.requiredOption('-r, --reason <text>', 'why, for everybody who asks later');

/** Who is at the keyboard. */
export function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id that has no name.
    return 'unknown';
  }
}
