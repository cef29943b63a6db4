/** A map that remembers only so many keys: those that were written last. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const oldest = this.keys().next();
    if (this.size > this.#most && oldest.done !== true) this.delete(oldest.value);
    return this;
  }
}
