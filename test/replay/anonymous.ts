const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** A process and its machine, as workers and clients name themselves, and the queues of theirs alone. */
const IDENTITY = /\b\d+@[\w.-]+/g;

/** The ids of operations begin with a piece of the resource's uid, which has to stay a piece of it. */
const PIECE_OF_UID = /\/[0-9a-f]{8}-(?=\d+\.\d+)/g;

/**
 * Renames whatever belongs to one machine or one run, everywhere in the same way, so that what was equal stays equal.
 * Times stay: replay needs them.
 */
export function makeAnonymous(history: unknown, renames: ReadonlyMap<string, string>): unknown {
  const runs = new Map<string, string>();
  const rename = (text: string): string => {
    let renamed = text.replaceAll(IDENTITY, 'worker@keelson').replaceAll(RUN_ID, (id) => {
      const known = runs.get(id) ?? `00000000-0000-4000-8000-${String(runs.size + 1).padStart(12, '0')}`;
      runs.set(id, known);
      return known;
    });
    renamed = renamed.replaceAll(PIECE_OF_UID, '/00000000-');
    for (const [from, to] of renames) renamed = renamed.replaceAll(from, to);
    return renamed;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return rename(value);
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    if ('metadata' in value && 'data' in value && typeof value.data === 'string') {
      return { ...value, data: encode(rename(decode(value.data))) };
    }
    return Object.fromEntries(
      // A stack is full of paths, and nothing but a reader ever looks at it.
      Object.entries(value).map(([key, item]) => [key, key === 'stackTrace' ? '' : walk(item)]),
    );
  };
  return walk(history);
}

const decode = (data: string): string => Buffer.from(data, 'base64').toString('utf8');
const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
