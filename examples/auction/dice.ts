/** Seeded random choices: equal seeds give equal choices. */
export interface Dice {
  /** An integer from `min` to `max`, inclusive. */
  between(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  /** True with a probability of `percent` %. */
  chance(percent: number): boolean;
}

/** The generator is Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    between,
    pick: (items) => items[between(0, items.length - 1)]!,
    chance: (percent) => next() * 100 < percent,
  };
}
