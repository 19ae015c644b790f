import { whole } from '../story/report/figure-text.ts';
import type { LadderRow } from './figures.ts';

/** A factor between 1 / 1.1 and 1.1 counts as no change. */
const NOTICEABLE = 1.1;

/** Comparison of a measured step with the talk's. There is none where the talk gave no count. */
export type Verdict = 'reproduces' | 'weaker here' | 'stronger here' | 'does not reproduce';

/** @param ours, talks the rate after the step divided by the rate before it */
export function verdictOf(ours: number, talks: number): Verdict {
  const isFlat = (factor: number) => factor < NOTICEABLE && factor > 1 / NOTICEABLE;
  if (isFlat(talks)) return isFlat(ours) ? 'reproduces' : ours > 1 ? 'stronger here' : 'does not reproduce';
  const share = Math.log(ours) / Math.log(talks);
  if (isFlat(ours) || share < 0) return 'does not reproduce';
  return share < 0.5 ? 'weaker here' : share > 2 ? 'stronger here' : 'reproduces';
}

/**
 * A sentence for each step. Only a step for which the talk gave a count is compared with the talk: its count, divided by that of the
 * state before.
 */
export function findingsOf(rows: readonly LadderRow[]): string[] {
  const steps = rows.filter(({ isControl, measured }) => !isControl && measured);
  return steps.slice(1).map((row, i) => {
    const before = steps[i]!;
    const ours = row.measured!.sentPerSecond / before.measured!.sentPerSecond;
    const saved = before.measured!.cpuUs - row.measured!.cpuUs;
    return (
      `**${row.title}**: × ${ours.toFixed(2)} the messages of "${before.title}"${comparison(rows, before, row, ours)}. ` +
      `A message costs ${row.measured!.cpuUs.toFixed(digits(row.measured!.cpuUs))} µs of CPU, ` +
      `${Math.abs(saved).toFixed(digits(saved))} µs ${saved < 0 ? 'more' : 'less'}.`
    );
  });
}

function comparison(rows: readonly LadderRow[], before: LadderRow, { talk }: LadderRow, ours: number): string {
  if (!talk) return '';
  const sentBefore = talkSentAfter(rows, before);
  if (talk.sent === undefined || sentBefore === undefined) return `; the talk gives no count for this step`;
  const factor = talk.sent / sentBefore;
  const [count, countBefore] = [whole(talk.sent), whole(sentBefore)];
  return `, in the talk × ${factor.toFixed(2)} (${count} / ${countBefore}): ${verdictOf(ours, factor)}`;
}

/**
 * The talk's count for the state after this row. Where it gave none but the next step is not run here, that step's: every rung includes
 * it.
 */
function talkSentAfter(rows: readonly LadderRow[], row: LadderRow): number | undefined {
  if (row.talk?.sent !== undefined) return row.talk.sent;
  const next = rows[rows.indexOf(row) + 1];
  return next && !next.measured ? next.talk?.sent : undefined;
}

function digits(microseconds: number): number {
  return Math.abs(microseconds) < 10 ? 2 : 0;
}
