/**
 * `; did you mean "x"?` with the nearest of `names`; '' if none is near.
 * @param share of the name's characters that may differ; one always may
 */
export function didYouMean(name: string, names: readonly string[], share = 0.4): string {
  const nearest = names
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter((option) => option.distance <= Math.max(1, Math.floor(name.length * share)))
    .sort((a, b) => a.distance - b.distance)[0];
  return nearest ? `; did you mean "${nearest.candidate}"?` : '';
}

/** Levenshtein distance. Ignores underscores, so that `auctionId` finds `auction_id`. */
function distance(a: string, b: string): number {
  const from = a.replaceAll('_', '');
  const to = b.replaceAll('_', '');
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substituted = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
