/**
 * `; did you mean "x"?` with the nearest of `names`; '' if none is near.
 * @param share of the name's characters that may differ; one always may
 */
export function didYouMean(name: string, names: readonly string[], share = 0.4): string {
  const text = comparable(name);
  let limit = Math.max(1, Math.floor(name.length * share));
  let nearest: string | undefined;
  for (const candidate of names) {
    const difference = distance(text, comparable(candidate), limit);
    if (difference === undefined) continue;
    nearest = candidate;
    limit = difference - 1;
  }
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** Without underscores, so that `auctionId` finds `auction_id`. */
function comparable(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

/** Levenshtein distance; undefined: it is more than `limit`. */
function distance(from: string, to: string, limit: number): number | undefined {
  if (Math.abs(from.length - to.length) > limit) return undefined;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substituted = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1));
    }
    // No later row has a smaller minimum.
    if (Math.min(...next) > limit) return undefined;
    row = next;
  }
  const difference = row[to.length]!;
  return difference > limit ? undefined : difference;
}
