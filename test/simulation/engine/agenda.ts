interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly happen: () => void | Promise<void>;
}

/** What is going to happen, in the order of virtual time; what is due at the same moment keeps its order. */
export class Agenda {
  readonly #heap: Entry[] = [];
  #order = 0;
  nowMs = 0;

  in(delayMs: number, happen: () => void | Promise<void>): void {
    this.#order += 1;
    this.#push({ atMs: this.nowMs + Math.max(0, delayMs), order: this.#order, happen });
  }

  /** When the next thing happens, or null when nothing ever will. */
  get nextMs(): number | null {
    return this.#heap[0]?.atMs ?? null;
  }

  /** Lets the next thing happen. */
  async step(): Promise<void> {
    const entry = this.#pop();
    if (entry === undefined) throw new Error('nothing is going to happen any more');
    this.nowMs = entry.atMs;
    await entry.happen();
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    if (heap.length <= 1) return heap.pop();
    this.#swap(0, heap.length - 1);
    const first = heap.pop();
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && this.#before(child, least)) least = child;
      }
      if (least === at) return first;
      this.#swap(at, least);
      at = least;
    }
  }

  #before(a: number, b: number): boolean {
    const left = this.#heap[a];
    const right = this.#heap[b];
    if (left === undefined || right === undefined) return false;
    return left.atMs === right.atMs ? left.order < right.order : left.atMs < right.atMs;
  }

  #swap(a: number, b: number): void {
    const left = this.#heap[a];
    const right = this.#heap[b];
    if (left === undefined || right === undefined) return;
    this.#heap[a] = right;
    this.#heap[b] = left;
  }
}
