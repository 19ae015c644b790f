/** A queue. `Array.shift` takes too long with many items. */
export class Fifo<Item> {
  #items: Item[] = [];
  /** Items before it have been taken. */
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  /** Returns the item that was added first. The queue must not be empty. */
  take(): Item {
    const item = this.#items[this.#first++]!;
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
