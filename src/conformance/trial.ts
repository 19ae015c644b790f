import type { Row } from './row.ts';
import { OperationEndedError, Stage } from './stage.ts';
import type { Subject } from './subject.ts';

/** `differs`: a row that the protocol does not state is not kept. `skipped`: the row could not be tried. */
export type Verdict = 'passed' | 'failed' | 'differs' | 'skipped';

export interface Outcome {
  readonly row: Row;
  readonly verdict: Verdict;
  /** Missing for rows that passed. */
  readonly reason?: string;
}

export interface TrialOptions {
  /** Longest wait for an answer, in ms. */
  readonly patienceMs: number;
  /** Rows that run at the same time. */
  readonly concurrency: number;
  onOutcome(outcome: Outcome): void;
}

/** Tries the rows on a server. Resolves with their outcomes, in the order of the rows. */
export async function tryRows(rows: readonly Row[], subject: Subject, options: TrialOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const left = rows.entries();
  const work = async () => {
    for (const [index, row] of left) {
      const outcome = await tryRow(row, subject, options.patienceMs);
      outcomes[index] = outcome;
      options.onOutcome(outcome);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  return outcomes;
}

async function tryRow(row: Row, subject: Subject, patienceMs: number): Promise<Outcome> {
  const missing = row.needs?.map((need) => subject.missing.get(need)).find((reason) => reason !== undefined);
  if (missing !== undefined) return { row, verdict: 'skipped', reason: missing };
  const stage = new Stage(subject, patienceMs);
  try {
    await row.run(stage);
    return { row, verdict: 'passed' };
  } catch (error) {
    if (error instanceof OperationEndedError) return { row, verdict: 'skipped', reason: error.message };
    const isStated = row.level === 'P' || row.level === 'RFC';
    return { row, verdict: isStated ? 'failed' : 'differs', reason: firstLine((error as Error).message) };
  } finally {
    await stage.close();
  }
}

/** An assertion without a message of its own goes on with a diff. */
function firstLine(message: string): string {
  return message.replace(/\s*\n\s*/g, ' ').slice(0, 300);
}
