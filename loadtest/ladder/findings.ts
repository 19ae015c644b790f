import type { LadderRow } from './figures.ts';

/** Below this much of a change, in either direction, a step changed nothing. */
const NOTICEABLE = 1.1;

/** How a step of ours compares to the talk's. */
export type Verdict = 'reproduces' | 'weaker here' | 'stronger here' | 'does not reproduce';

/** By the factor of the rates, after against before. */
export function verdictOf(ours: number, talks: number): Verdict {
  const isFlat = (factor: number) => factor < NOTICEABLE && factor > 1 / NOTICEABLE;
  if (isFlat(talks)) return isFlat(ours) ? 'reproduces' : ours > 1 ? 'stronger here' : 'does not reproduce';
  const share = Math.log(ours) / Math.log(talks);
  if (isFlat(ours) || share < 0) return 'does not reproduce';
  return share < 0.5 ? 'weaker here' : share > 2 ? 'stronger here' : 'reproduces';
}

/** One sentence for each step whose factor the talk's figures tell; steps between two figures are taken together. */
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

/** What the talk sent by then: its own figure, or that of a step directly before that is not run here. */
function talkSent(rows: readonly LadderRow[], row: LadderRow): number | undefined {
  if (row.talk?.sent !== undefined) return row.talk.sent;
  const next = rows[rows.indexOf(row) + 1];
  return next && !next.measured ? next.talk?.sent : undefined;
}
