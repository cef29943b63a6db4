import { condition, setHandler } from '@temporalio/workflow';
import { hint } from '../../../workflows/shared/messages.ts';

/** An entity that does nothing but live. */
export async function lamp(): Promise<void> {
  setHandler(hint, () => undefined);
  await condition(() => false);
}
