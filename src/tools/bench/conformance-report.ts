import { isStated } from '../conformance/row.ts';
import type { Outcome, Verdict } from '../conformance/trial.ts';
import { onOneLine } from '../../base/visible.ts';
import { fold } from '../fold.ts';
import { paint } from '../../base/paint.ts';

const MARKS = { passed: '✓', failed: '✗', differs: '~', skipped: '-' } satisfies Record<Verdict, string>;
const COLOURS = { passed: 'green', failed: 'red', differs: 'yellow', skipped: 'dim' } as const;
/** Width of mark, id and level. */
const INDENT = 13;

export interface Score {
  /** Rows of the protocol and of RFC 6455 that passed, of those that were tried. */
  readonly passed: number;
  readonly tried: number;
  readonly failed: number;
  /** Rows that only the reference implementation or crier asks for, and that the server does not keep. */
  readonly differs: number;
  readonly skipped: number;
}

export function scoreOf(outcomes: readonly Outcome[]): Score {
  const count = (wanted: Verdict) => outcomes.filter(({ verdict }) => verdict === wanted).length;
  const passed = outcomes.filter(({ row, verdict }) => isStated(row) && verdict === 'passed').length;
  const failed = count('failed');
  return { passed, tried: passed + failed, failed, differs: count('differs'), skipped: count('skipped') };
}

/** A line for each row. Below a row that did not pass: what was seen instead, and who makes the promise. */
export function conformanceText(outcomes: readonly Outcome[], timeoutMs: number, out: NodeJS.WriteStream): string {
  const lines = outcomes.flatMap(({ row, verdict, reason }) => {
    const line = (colour: Parameters<typeof paint>[1], text: string) => paint(out, colour, fold(out, text, INDENT));
    const detail = (text: string) => line('dim', ' '.repeat(INDENT) + text);
    return [
      line(COLOURS[verdict], `${MARKS[verdict]} ${row.id}  ${row.level.padEnd(3)}  ${row.title}`),
      ...(reason === undefined ? [] : [detail(onOneLine(reason))]),
      ...(verdict === 'failed' || verdict === 'differs' ? [detail(`Source: ${row.source}`)] : []),
    ];
  });
  return `${lines.join('\n')}\n\n${scoreText(outcomes, timeoutMs, out)}\n`;
}

function scoreText(outcomes: readonly Outcome[], timeoutMs: number, out: NodeJS.WriteStream): string {
  const { passed, tried, failed, differs, skipped } = scoreOf(outcomes);
  const share = tried === 0 ? '' : ` (${Math.floor((100 * passed) / tried)} %)`;
  const hasWaited = outcomes.some(({ verdict, reason }) => verdict === 'failed' && reason?.includes('got none in'));
  return [
    paint(out, failed === 0 ? 'green' : 'red', `Score: ${passed} of ${tried} rows of the protocol${share}`),
    `${failed} failed, ${skipped} skipped, ${differs} differ where nothing is demanded`,
    ...(hasWaited ? [`For a server that answers after ${timeoutMs / 1000} s: --timeout`] : []),
    '',
    'P: the protocol, https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md. RFC: RFC 6455.',
    'Not demanded, REF: done by graphql-ws, the reference implementation. REC: recommended.',
  ]
    .map((line) => fold(out, line, 0))
    .join('\n');
}
