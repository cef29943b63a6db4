/** Something that takes a while, as a person watches it. */
export interface Task {
  /** What is happening right now, in a few words. */
  update(detail: string): void;
  done(detail?: string): void;
  fail(detail: string): void;
}

/** Where the stack tells what it is doing. */
export interface Progress {
  task(label: string): Task;
  note(text: string): void;
  /** Takes the moving lines away, so that something else can be printed. */
  close(): void;
}

/** Seconds and minutes as a person writes them. */
export function formatSeconds(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)}m${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

/** Progress on a terminal as moving lines, elsewhere as plain ones. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? new TerminalProgress(stream) : new PlainProgress(stream);
}

/** Progress that nobody watches. */
export const silentProgress: Progress = {
  task: () => ({ update: () => {}, done: () => {}, fail: () => {} }),
  note: () => {},
  close: () => {},
};

const REMINDER_MS = 20_000;
const REDRAW_MS = 120;

/** One line when something starts to take long, one when it ends. */
class PlainProgress implements Progress {
  readonly #stream: NodeJS.WritableStream;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  task(label: string): Task {
    const start = Date.now();
    let detail = '';
    const elapsed = (): string => formatSeconds(Date.now() - start);
    const reminder = setInterval(() => this.note(`… ${label}${suffix(detail)} (${elapsed()})`), REMINDER_MS);
    reminder.unref();
    const end = (mark: string, text: string): void => {
      clearInterval(reminder);
      this.note(`${mark} ${label}${suffix(text)} (${elapsed()})`);
    };
    return {
      update: (text) => void (detail = text),
      done: (text = '') => end('✓', text),
      fail: (text) => end('✗', text),
    };
  }

  note(text: string): void {
    this.#stream.write(`${text}\n`);
  }

  close(): void {}
}

/** Running tasks as a block of lines at the bottom, finished ones above it. */
class TerminalProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #running = new Map<symbol, { label: string; detail: string; start: number }>();
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  task(label: string): Task {
    const key = Symbol(label);
    const entry = { label, detail: '', start: Date.now() };
    this.#running.set(key, entry);
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS).unref();
    const end = (mark: string, text: string): void => {
      this.#running.delete(key);
      this.note(`${mark} ${label}${suffix(text)} (${formatSeconds(Date.now() - entry.start)})`);
    };
    return {
      update: (text) => void (entry.detail = text),
      done: (text = '') => end('\u001b[32m✓\u001b[0m', text),
      fail: (text) => end('\u001b[31m✗\u001b[0m', text),
    };
  }

  note(text: string): void {
    this.#erase();
    this.#stream.write(`${text}\n`);
    this.#draw();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#erase();
  }

  #draw(): void {
    this.#erase();
    const frame = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[Math.floor(Date.now() / REDRAW_MS) % 10] ?? '';
    for (const { label, detail, start } of this.#running.values()) {
      const line = `${frame} ${label}${suffix(detail)} (${formatSeconds(Date.now() - start)})`;
      this.#stream.write(`${line.slice(0, (this.#stream.columns || 80) - 1)}\n`);
    }
    this.#drawn = this.#running.size;
    if (this.#drawn === 0 && this.#timer !== undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #erase(): void {
    if (this.#drawn > 0) this.#stream.write(`\u001b[${this.#drawn}A\u001b[J`);
    this.#drawn = 0;
  }
}

function suffix(detail: string): string {
  return detail === '' ? '' : `: ${detail}`;
}
