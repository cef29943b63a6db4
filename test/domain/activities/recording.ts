import { readFileSync } from 'node:fs';

/** The versions of which answers were recorded. */
export const VERSIONS = ['8.1.8', '9.1.2'] as const;
export type Version = (typeof VERSIONS)[number];

/** What a real server of that version answered. */
export const recorded = (version: Version, what: string): string =>
  readFileSync(new URL(`./testdata/valkey-${version}-${what}.txt`, import.meta.url), 'utf8');
