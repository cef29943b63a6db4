/** Major, minor, patch. */
export type Version = readonly [number, number, number];

/** The version at the beginning of a tag such as `9.1.2-alpine`; null for tags that are none, such as `latest`. */
export function parseVersion(text: string): Version | null {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?![\d.])/.exec(text);
  return match === null ? null : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

/** Whether the first comes before the second; what is no version is neither older nor newer. */
export function isOlder(a: Version | null, b: Version | null): boolean {
  if (a === null || b === null) return false;
  for (const at of [0, 1, 2] as const) if (a[at] !== b[at]) return a[at] < b[at];
  return false;
}
