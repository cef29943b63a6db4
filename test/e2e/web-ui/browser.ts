import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright, type BrowserContext, type Page } from 'playwright-core';
import { resolveArtifact } from '../../../deploy/local/cache/resolve.ts';
import { browserProgram, chromium } from '../../../deploy/local/parts/chromium.ts';
import { createProgress } from '../../../deploy/local/progress.ts';

const FETCH_LIMIT_MS = 240_000;
const WAIT_MS = 45_000;
const VIEWPORT = { width: 1440, height: 1000 };

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What is given for the families that pages ask for, and for the browser's own when they ask for none. */
const FAMILIES = {
  'sans-serif': 'DejaVu Sans',
  serif: 'DejaVu Sans',
  'Times New Roman': 'DejaVu Sans',
  monospace: 'DejaVu Sans Mono',
} as const;

/** A browser with an empty profile, which leaves nothing behind. */
export class Browser implements AsyncDisposable {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #directory: string;

  private constructor(page: Page, context: BrowserContext, directory: string) {
    this.page = page;
    this.#context = context;
    this.#directory = directory;
  }

  /** Opens a browser: the machine's own, or one that is fetched now, within a time. */
  static async open(): Promise<Browser> {
    const limit = AbortSignal.timeout(FETCH_LIMIT_MS);
    const { program, env, fontDirectories } = browserProgram(
      await resolveArtifact(chromium, createProgress(), limit),
    );
    const directory = mkdtempSync(join(tmpdir(), 'keelson-browser-'));
    const fonts = join(directory, 'fonts.conf');
    writeFileSync(fonts, fontConfiguration(fontDirectories, join(directory, 'fonts')));
    const context = await playwright.launchPersistentContext(join(directory, 'profile'), {
      executablePath: program,
      headless: true,
      args: FLAGS,
      env: { ...process.env, ...env, FONTCONFIG_FILE: fonts },
      viewport: VIEWPORT,
      colorScheme: 'light',
      timeout: WAIT_MS,
    });
    context.setDefaultTimeout(WAIT_MS);
    // A page that asks somebody else for fonts or news would wait for an answer that tests cannot rely on.
    await context.route(
      (url) => url.hostname !== '127.0.0.1',
      (route) => route.abort(),
    );
    const page = context.pages()[0] ?? (await context.newPage());
    return new Browser(page, context, directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const fontConfiguration = (directories: readonly string[], cache: string): string =>
  [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    '<fontconfig>',
    ...directories.map((directory) => `  <dir>${directory}</dir>`),
    `  <cachedir>${cache}</cachedir>`,
    // Pages ask for families that are not there: without these lines everything gets serifs.
    ...Object.entries(FAMILIES).map(
      ([asked, given]) =>
        `  <alias><family>${asked}</family><prefer><family>${given}</family></prefer></alias>`,
    ),
    '  <match target="pattern"><edit name="family" mode="append_last"><string>sans-serif</string></edit></match>',
    '</fontconfig>',
  ].join('\n');
