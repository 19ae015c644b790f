import { createHash } from 'node:crypto';

/** An entry that was written once and must arrive once at each of its subscribers. */
export interface Entry {
  /** The unit of order: one partition of one topic. */
  readonly lane: string;
  /** Position in the lane, rising. */
  readonly sequence: number;
  readonly content: string;
  /** ms since 1970. */
  readonly writtenAt: number;
  /** SHA-256 of all of this, in hex. */
  readonly digest: string;
}

/** What was wrong with the entries that one subscriber received, as `lane#sequence`; all empty: nothing. */
export interface Findings {
  readonly lost: readonly string[];
  readonly duplicate: readonly string[];
  /** Arrived after a later one of its lane. */
  readonly reordered: readonly string[];
  /** Content, time or digest is not what was written. */
  readonly corrupt: readonly string[];
  /** Never written, or written for others. */
  readonly foreign: readonly string[];
}

export function createEntry(lane: string, sequence: number, content: string, writtenAt = Date.now()): Entry {
  const entry = { lane, sequence, content, writtenAt };
  return { ...entry, digest: digestOf(entry) };
}

/** Compares the entries that a subscriber received, in order of arrival, with those written for it. */
export function audit(written: readonly Entry[], received: readonly Entry[]): Findings {
  const expected = new Map(written.map((entry) => [nameOf(entry), entry]));
  const seen = new Set<string>();
  const latest = new Map<string, number>();
  const findings = {
    lost: [] as string[],
    duplicate: [] as string[],
    reordered: [] as string[],
    corrupt: [] as string[],
    foreign: [] as string[],
  };
  for (const entry of received) {
    const name = nameOf(entry);
    const original = expected.get(name);
    if (!original) {
      findings.foreign.push(name);
      continue;
    }
    if (entry.digest !== original.digest || digestOf(entry) !== original.digest) findings.corrupt.push(name);
    if (seen.has(name)) {
      findings.duplicate.push(name);
      continue;
    }
    seen.add(name);
    const last = latest.get(entry.lane) ?? -Infinity;
    if (entry.sequence < last) findings.reordered.push(name);
    latest.set(entry.lane, Math.max(last, entry.sequence));
  }
  findings.lost.push(...[...expected.keys()].filter((name) => !seen.has(name)));
  return findings;
}

/** Nothing, or one line that says what was wrong, with a few examples of each kind. */
export function summaryOf(findings: Findings): string {
  return Object.entries(findings)
    .filter(([, names]: [string, readonly string[]]) => names.length > 0)
    .map(
      ([kind, names]: [string, readonly string[]]) =>
        `${names.length} ${kind} (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''})`,
    )
    .join('; ');
}

function nameOf({ lane, sequence }: Entry): string {
  return `${lane}#${sequence}`;
}

function digestOf({ lane, sequence, content, writtenAt }: Omit<Entry, 'digest'>): string {
  return createHash('sha256').update(`${lane}#${sequence}#${writtenAt}#${content}`).digest('hex');
}
