/** A queue of up to so many items uses `Array.shift`, which is fast then and keeps no reference to a taken item. */
const MAX_SHIFTED = 64;

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

  /** The item that was added first; undefined: the queue is empty. */
  get first(): Item | undefined {
    return this.#items[this.#first];
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  /** Returns the item that was added first. The queue must not be empty. */
  take(): Item {
    if (this.#items.length <= MAX_SHIFTED && this.#first === 0) return this.#items.shift()!;
    const item = this.#items[this.#first++]!;
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
