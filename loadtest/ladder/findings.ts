import type { LadderRow } from './figures.ts';

/** A factor between 1 / 1.1 and 1.1 counts as no change. */
const NOTICEABLE = 1.1;

/** Comparison of a measured step with the talk's. */
export type Verdict = 'reproduces' | 'weaker here' | 'stronger here' | 'does not reproduce';

/** @param ours, talks the rate after the step divided by the rate before it */
export function verdictOf(ours: number, talks: number): Verdict {
  const isFlat = (factor: number) => factor < NOTICEABLE && factor > 1 / NOTICEABLE;
  if (isFlat(talks)) return isFlat(ours) ? 'reproduces' : ours > 1 ? 'stronger here' : 'does not reproduce';
  const share = Math.log(ours) / Math.log(talks);
  if (isFlat(ours) || share < 0) return 'does not reproduce';
  return share < 0.5 ? 'weaker here' : share > 2 ? 'stronger here' : 'reproduces';
}

/** A sentence for each step with a figure in the talk. Steps between two such figures count as one. */
export function findingsOf(rows: readonly LadderRow[]): string[] {
  const findings: string[] = [];
  const steps = rows.filter(({ isControl, measured }) => !isControl && measured);
  let before = steps[0];
  for (const row of steps.slice(1)) {
    const talks = talkSent(rows, row);
    const talksBefore = before && talkSent(rows, before);
    if (!before?.measured || talks === undefined || talksBefore === undefined) continue;
    const ours = row.measured!.sentPerSecond / before.measured.sentPerSecond;
    const factor = talks / talksBefore;
    const saved = before.measured.cpuUs - row.measured!.cpuUs;
    findings.push(
      `**${row.title}**: × ${ours.toFixed(2)} the messages of "${before.title}", in the talk × ${factor.toFixed(2)}: ` +
        `${verdictOf(ours, factor)}. A message costs ${row.measured!.cpuUs.toFixed(0)} µs of CPU, ` +
        `${Math.abs(saved).toFixed(0)} µs ${saved < 0 ? 'more' : 'less'}.`,
    );
    before = row;
  }
  return findings;
}

/** The talk's figure for this row or, if it has none, for the next row when that row is not run here. */
function talkSent(rows: readonly LadderRow[], row: LadderRow): number | undefined {
  if (row.talk?.sent !== undefined) return row.talk.sent;
  const next = rows[rows.indexOf(row) + 1];
  return next && !next.measured ? next.talk?.sent : undefined;
}
