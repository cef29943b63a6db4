import { explainPlan, renderExplanations } from '../../../workflows/datamesh/domain/explanation.ts';
import { answering, planFromFiles, type DatameshFlags } from './datamesh-input.ts';

/** `keelson explain --lifecycle datamesh`: why something is blocked, and what would go wrong. Answers the exit code. */
export async function explainDatamesh(flags: DatameshFlags): Promise<number> {
  return answering(() => {
    const rows = explainPlan(planFromFiles(flags));
    return flags.output === 'json'
      ? `${JSON.stringify({ lifecycle: 'datamesh', explanations: rows }, undefined, 2)}\n`
      : renderExplanations(rows);
  });
}
