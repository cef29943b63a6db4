import { buildEnvelope } from '../../../workflows/datamesh/domain/envelope.ts';
import { renderPlan } from '../../../workflows/datamesh/domain/plan-text.ts';
import { answering, planFromFiles, type DatameshFlags } from './datamesh-input.ts';

/** `keelson plan --lifecycle datamesh`: what would be done, step by step. Answers the exit code. */
export async function planDatamesh(flags: DatameshFlags): Promise<number> {
  return answering(() => {
    const plan = planFromFiles(flags);
    return flags.output === 'json'
      ? `${JSON.stringify(buildEnvelope(plan), undefined, 2)}\n`
      : renderPlan(plan);
  });
}
