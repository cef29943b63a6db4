/** What a frame is drawn on. */
export interface Screen {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** A text on a terminal that is drawn over by the next one. */
export class ScreenFrame {
  readonly #screen: Screen;
  #height = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  draw(text: string): void {
    // A terminal that does not know its size says 0.
    const columns = this.#screen.columns || 80;
    const rows = Math.max((this.#screen.rows || 24) - 1, 1);
    // A line that wraps or a frame that scrolls could not be drawn over: both are cut.
    const lines = text
      .split('\n')
      .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line))
      .slice(0, rows);
    const up = this.#height > 0 ? `\u001B[${this.#height}A` : '';
    this.#screen.write(`${up}\r\u001B[J${lines.join('\n')}\n`);
    this.#height = lines.length;
  }
}
