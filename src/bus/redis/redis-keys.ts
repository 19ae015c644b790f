/** The hash of the partition owners (partition.lua). */
export function ownersKey(prefix: string): string {
  return `${prefix}owners`;
}

/** The hash of the fills of states (fills.lua). */
export function fillsKey(prefix: string): string {
  return `${prefix}fills`;
}
