import { isStated } from './row.ts';
import type { ProtocolRow } from './row.ts';
import { OperationEndedError, Stage } from './stage.ts';
import type { Subject } from './subject.ts';

/** `differs`: the server does not do what only REF or REC asks for. `skipped`: the row could not be tried. */
export type Verdict = 'passed' | 'failed' | 'differs' | 'skipped';

export interface Outcome {
  readonly row: ProtocolRow;
  readonly verdict: Verdict;
  /** Missing for rows that passed. */
  readonly reason?: string;
}

export interface TrialOptions {
  /** Longest wait for an answer, in ms. */
  readonly patienceMs: number;
  /** Rows that run at the same time. */
  readonly concurrency: number;
  /** Ends the trial early: rows without an outcome are skipped. */
  readonly stop: AbortSignal;
  /** Called after each change. */
  onProgress: (done: number, running: ReadonlySet<ProtocolRow>) => void;
}

/** In characters: a server may answer with much. */
const MAX_REASON_LENGTH = 300;

class InterruptedError extends Error {}

/** Tries the rows on a server. Resolves with their outcomes, in the order of the rows. */
export async function tryRows(
  rows: readonly ProtocolRow[],
  subject: Subject,
  { patienceMs, concurrency, stop, onProgress }: TrialOptions,
): Promise<Outcome[]> {
  const stopped = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => reject(new InterruptedError('interrupted')), { once: true });
  });
  stopped.catch(() => undefined);
  const outcomes: Outcome[] = [];
  const running = new Set<ProtocolRow>();
  let done = 0;
  const left = rows.entries();
  const work = async () => {
    for (const [index, row] of left) {
      onProgress(done, running.add(row));
      outcomes[index] = stop.aborted
        ? { row, verdict: 'skipped', reason: 'interrupted' }
        : await tryRow(row, subject, patienceMs, stopped);
      running.delete(row);
      onProgress(++done, running);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return outcomes;
}

/** @param stopped rejects when the trial is to end */
async function tryRow(
  row: ProtocolRow,
  subject: Subject,
  patienceMs: number,
  stopped: Promise<never>,
): Promise<Outcome> {
  const missing = row.needs?.map((need) => subject.missing.get(need)).find((reason) => reason !== undefined);
  if (missing !== undefined) return { row, verdict: 'skipped', reason: missing };
  const stage = new Stage(subject, patienceMs);
  try {
    await Promise.race([row.run(stage), stopped]);
    return { row, verdict: 'passed' };
  } catch (error) {
    return { row, verdict: verdictOf(error, row), reason: lineOf((error as Error).message) };
  } finally {
    await stage.close();
  }
}

function verdictOf(error: unknown, row: ProtocolRow): Verdict {
  if (error instanceof OperationEndedError || error instanceof InterruptedError) return 'skipped';
  return isStated(row) ? 'failed' : 'differs';
}

/** An assertion without a message of its own goes on with a diff. */
function lineOf(message: string): string {
  return message.replace(/\s*\n\s*/g, ' ').slice(0, MAX_REASON_LENGTH);
}
