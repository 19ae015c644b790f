/** The day on which each line of Node ends, or has ended (https://github.com/nodejs/release#release-schedule). */
const ENDS: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/**
 * What a person should know about a line of Node that gets no security fixes any more; undefined while it gets some.
 * @param version such as `v20.20.2`
 */
export function endedNodeLine(version: string, now = new Date()): string | undefined {
  const line = /\d+/.exec(version)![0];
  const hasEnded = (end: string) => now > new Date(`${end}T23:59:59Z`);
  if (ENDS[line] === undefined || !hasEnded(ENDS[line])) return undefined;
  const month = new Date(ENDS[line]).toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const living = Object.keys(ENDS).filter((other) => !hasEnded(ENDS[other]!));
  const choice = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(living) || 'a later line';
  return `Node ${line} has got no security fixes since ${month}: run crier with Node ${choice}`;
}
