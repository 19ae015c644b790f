import { setImmediate as nextTurn } from 'node:timers/promises';

/** Items between two turns of the event loop. */
const ITEMS_IN_A_TURN = 1000;

/** The items with the largest values above 0, largest first. Takes one turn of the event loop for 1,000 items. */
export async function top<T>(items: readonly T[], valueOf: (item: T) => number, limit: number): Promise<T[]> {
  const largest: { readonly item: T; readonly value: number }[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % ITEMS_IN_A_TURN === 0) await nextTurn();
    const value = valueOf(item);
    if (value <= 0 || (largest.length === limit && value <= largest.at(-1)!.value)) continue;
    const at = largest.findIndex((other) => other.value < value);
    largest.splice(at < 0 ? largest.length : at, 0, { item, value });
    if (largest.length > limit) largest.pop();
  }
  return largest.map(({ item }) => item);
}
