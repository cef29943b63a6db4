import type { Play, Scene, Verdict } from './play.ts';

const QUIET = { lostAnswer: 0, frozen: 0, slow: 0 } as const;

/** Takes away from a failing scene whatever it still fails without: faults first, then incidents, many at a time. */
export async function shrinkScene<Incident>(
  play: Play<Incident>,
  failing: Scene<Incident>,
): Promise<{ readonly scene: Scene<Incident>; readonly verdict: Verdict }> {
  let scene = failing;
  let verdict = await play.perform(scene);
  const attempt = async (smaller: Scene<Incident>): Promise<boolean> => {
    const judged = await play.perform(smaller);
    if (judged.violations.length === 0) return false;
    scene = smaller;
    verdict = judged;
    return true;
  };
  if (!(await attempt({ ...scene, faults: QUIET }))) {
    for (const fault of ['lostAnswer', 'frozen', 'slow'] as const) {
      await attempt({ ...scene, faults: { ...scene.faults, [fault]: 0 } });
    }
  }
  await attempt({ ...scene, longHistory: 1_000_000 });
  for (let size = scene.incidents.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < scene.incidents.length;) {
      const incidents = scene.incidents.toSpliced(at, size);
      if (!(await attempt({ ...scene, incidents }))) at += size;
    }
  }
  return { scene, verdict };
}
