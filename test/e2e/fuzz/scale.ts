import { runsFullMatrix } from '../../projects.ts';

const RUNS = { usual: 50, full: 1_000 } as const;
const LIVES = { usual: 20, full: 300 } as const;

const asked = (): number | null => {
  const text = process.env['KEELSON_FUZZ_RUNS'];
  if (text === undefined) return null;
  if (!/^[1-9][0-9]*$/.test(text)) throw new Error(`KEELSON_FUZZ_RUNS must be a number, not ${text}`);
  return Number(text);
};

/** How many objects each property is tried on; `KEELSON_FUZZ_RUNS` asks for another number. */
export const fuzzRuns = (): number => asked() ?? (runsFullMatrix() ? RUNS.full : RUNS.usual);

/** How many objects of a kind live through creation, change and deletion. */
export const fuzzLives = (): number => asked() ?? (runsFullMatrix() ? LIVES.full : LIVES.usual);

/** Where draws begin: at one place in every usual run, anywhere in a full one; a failure tells its seed, to be repeated. */
export const fuzzSeed = (): number =>
  Number(process.env['KEELSON_FUZZ_SEED'] ?? (runsFullMatrix() ? Date.now() % 2 ** 31 : 1));
