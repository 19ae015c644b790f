/** Cost of a character that is missing or too many. Of two names with as many edits the one of lower cost is nearer. */
const EDIT = 100;
/** Another character: `GE` is rather `GTE` than `GT`. */
const SUBSTITUTION = EDIT + 1;
/** Another beginning, added once: `NEQ` is rather `NE` than `EQ`. */
const OTHER_BEGINNING = 20;

/**
 * `; did you mean "x"?` with the nearest of `names`; '' if none is near.
 * @param share of the name's characters that may differ; one always may
 */
export function didYouMean(name: string, names: readonly string[], share = 0.4): string {
  const text = comparable(name);
  let limit = (Math.max(1, Math.floor(name.length * share)) + 1) * EDIT - 1;
  let nearest: string | undefined;
  for (const candidate of names) {
    const cost = costOf(text, comparable(candidate), limit);
    if (cost === undefined) continue;
    nearest = candidate;
    limit = cost - 1;
  }
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** undefined: it is more than `limit`, or the names differ only by a prefix: `NIN` and `IN`, `UNPAID` and `PAID` are opposites. */
function costOf(name: string, candidate: string, limit: number): number | undefined {
  if (name !== candidate && (name.endsWith(candidate) || candidate.endsWith(name))) return undefined;
  const cost = distance(name, candidate, limit);
  if (cost === undefined || name[0] === candidate[0]) return cost;
  return cost + OTHER_BEGINNING > limit ? undefined : cost + OTHER_BEGINNING;
}

/** Without underscores, so that `auctionId` finds `auction_id`. */
function comparable(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

/** Weighted Levenshtein distance; undefined: it is more than `limit`. */
function distance(from: string, to: string, limit: number): number | undefined {
  if (Math.abs(from.length - to.length) * EDIT > limit) return undefined;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index * EDIT);
  for (let i = 1; i <= from.length; i++) {
    const next = [i * EDIT];
    for (let j = 1; j <= to.length; j++) {
      const substituted = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : SUBSTITUTION);
      next.push(Math.min(substituted, row[j]! + EDIT, next[j - 1]! + EDIT));
    }
    // No later row has a smaller minimum.
    if (Math.min(...next) > limit) return undefined;
    row = next;
  }
  const difference = row[to.length]!;
  return difference > limit ? undefined : difference;
}
