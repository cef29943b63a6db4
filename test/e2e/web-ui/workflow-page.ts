import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { Page } from 'playwright-core';

const KEPT = fileURLToPath(new URL('../../../docs/images', import.meta.url));

/** Higher than the longest timeline that is looked at. */
const TALL = 4_000;

/** One run in the Web UI, as a person finds it. */
export interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

type Tab = 'timeline' | 'history' | 'user-metadata' | 'search-attributes';

/** The Web UI of one Temporal server. */
export class WebUi {
  readonly #page: Page;
  readonly #url: string;
  readonly #shots: string;

  /** Screenshots go into the directory, or, when `KEELSON_KEEP_SCREENSHOTS` is 1, among the documents. */
  constructor(page: Page, url: string, directory: string) {
    this.#page = page;
    this.#url = `${url}/namespaces/default/workflows`;
    this.#shots = process.env['KEELSON_KEEP_SCREENSHOTS'] === '1' ? KEPT : directory;
    mkdirSync(this.#shots, { recursive: true });
  }

  /** The rows of the list that fit a query, as text. */
  async list(query: string, count: number): Promise<readonly string[]> {
    await this.#page.goto(`${this.#url}?query=${encodeURIComponent(query)}`);
    const rows = this.#page.locator('tbody tr').filter({ hasText: 'valkey-cluster/' });
    await rows.nth(count - 1).waitFor();
    return rows.allInnerTexts();
  }

  /** Opens a tab of a run's page, once its heading shows this status. */
  async open(run: Run, tab: Tab, status: string): Promise<void> {
    await this.#page.goto(`${this.#url}/${encodeURIComponent(run.workflowId)}/${run.runId}/${tab}`);
    // Capital letters are the style sheet's, not the text's.
    await this.#page
      .getByText(new RegExp(`^\\s*${status}\\s*$`, 'i'))
      .first()
      .waitFor();
  }

  /** Waits until the page shows the text; what it shows instead is in the error. */
  async expectText(text: string | RegExp): Promise<void> {
    await this.#page
      .getByText(text)
      .first()
      .waitFor({ state: 'attached' })
      .catch(async (error: unknown) => {
        const shown = await this.#page.locator('main').innerText();
        throw new Error(`the page does not show ${String(text)}, but: ${shown}`, { cause: error });
      });
  }

  /** Does something with a page so tall that it renders all rows of a long timeline, not those alone that would be seen. */
  async whileTall(work: () => Promise<void>): Promise<void> {
    const size = this.#page.viewportSize();
    if (size === null) throw new Error('the page has no size of its own');
    await this.#page.setViewportSize({ ...size, height: TALL });
    await work();
    await this.#page.setViewportSize(size);
  }

  /** What is rendered from Markdown lies in frames: the summary first, then the current details. */
  async readMetadata(): Promise<{ readonly summary: string; readonly details: string }> {
    const frames = this.#page.locator('iframe');
    await frames.nth(1).waitFor();
    // A frame is there before its text is.
    const texts = [0, 1].map((at) => {
      const body = frames.nth(at).contentFrame().locator('body');
      return body.filter({ hasText: /\S/ }).innerText();
    });
    const [summary = '', details = ''] = await Promise.all(texts);
    return { summary: summary.trim(), details: details.trim() };
  }

  /** Keeps what the page looks like. */
  async shoot(name: string): Promise<string> {
    const path = join(this.#shots, `${name}.png`);
    await this.#page.screenshot({ path });
    return path;
  }
}

/** The newest run of a workflow whose id begins so. */
export async function findRun(client: Client, namespace: string, prefix: string): Promise<Run> {
  const found: Run[] = [];
  for await (const one of client.workflow.list({ query: `KeelsonNamespace = "${namespace}"` })) {
    if (one.workflowId === prefix || one.workflowId.startsWith(`${prefix}/create/`)) found.push(one);
  }
  const operation = found.find(({ workflowId }) => workflowId !== prefix) ?? found[0];
  if (operation === undefined) throw new Error(`no run of ${prefix} is listed`);
  return operation;
}
