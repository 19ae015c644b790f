import type { Outcome, Verdict } from '../../conformance/trial.ts';
import { onOneLine } from '../../visible.ts';
import { paint } from '../paint.ts';

const MARKS = { passed: '✓', failed: '✗', differs: '~', skipped: '-' } satisfies Record<Verdict, string>;
const COLOURS = { passed: 'green', failed: 'red', differs: 'yellow', skipped: 'dim' } as const;

export interface Score {
  /** Rows of the protocol and of RFC 6455 that passed, of those that were tried. */
  readonly passed: number;
  readonly tried: number;
  readonly failed: number;
  /** Rows that only the reference implementation or crier promises, and that the server does not keep. */
  readonly differs: number;
  readonly skipped: number;
}

export function scoreOf(outcomes: readonly Outcome[]): Score {
  const count = (wanted: Verdict) => outcomes.filter(({ verdict }) => verdict === wanted).length;
  const stated = outcomes.filter(({ row }) => row.level === 'P' || row.level === 'RFC');
  const passed = stated.filter(({ verdict }) => verdict === 'passed').length;
  const failed = count('failed');
  return { passed, tried: passed + failed, failed, differs: count('differs'), skipped: count('skipped') };
}

/** A line for each row, with the reason below where it did not pass, and the score. */
export function conformanceText(outcomes: readonly Outcome[], out: NodeJS.WriteStream): string {
  const lines = outcomes.flatMap(({ row, verdict, reason }) => {
    const line = `${MARKS[verdict]} ${row.id}  ${row.level.padEnd(3)}  ${row.title}`;
    return [
      paint(out, COLOURS[verdict], line),
      ...(reason === undefined ? [] : [paint(out, 'dim', `             ${onOneLine(reason)}`)]),
    ];
  });
  return `${lines.join('\n')}\n\n${scoreText(scoreOf(outcomes), out)}\n`;
}

function scoreText({ passed, tried, failed, differs, skipped }: Score, out: NodeJS.WriteStream): string {
  const share = tried === 0 ? '' : ` (${Math.floor((100 * passed) / tried)} %)`;
  const kept = paint(out, failed === 0 ? 'green' : 'red', `Score: ${passed} of ${tried} rows of the protocol${share}`);
  return `${kept}; ${failed} failed, ${skipped} skipped, ${differs} differ where the protocol says nothing.
P: stated by the protocol. RFC: by RFC 6455. REF: done by its reference implementation. REC: recommended.`;
}
