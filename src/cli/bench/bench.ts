import { protocolRows } from '../../conformance/protocol-rows.ts';
import { tryRows } from '../../conformance/trial.ts';
import type { Outcome } from '../../conformance/trial.ts';
import { escapeHidden } from '../../visible.ts';
import { paint } from '../paint.ts';
import { readBench } from './arguments.ts';
import type { Bench } from './arguments.ts';
import { conformanceText, scoreOf } from './conformance-report.ts';
import { fanOutText } from './fan-out-report.ts';
import { measureFanOut } from './fan-out.ts';
import type { FanOut } from './fan-out.ts';
import { meet } from './first-contact.ts';
import { survey } from './survey.ts';
import { EventTrigger } from './trigger.ts';

export { usage } from './arguments.ts';

/** Rows that run at the same time: most wait for the server. */
const CONCURRENCY = 6;
const REPORT_MS = 2000;

interface Result {
  outcomes?: readonly Outcome[];
  fanOut?: FanOut;
}

export async function run(args: readonly string[]): Promise<number> {
  const bench = readBench(args);
  const trigger = bench.trigger && new EventTrigger(bench, bench.trigger);
  const result: Result = {};
  try {
    await meet(bench);
    if (bench.only !== 'fan-out') {
      result.outcomes = await tryConformance(bench, trigger);
      if (!bench.isJson) print(`Conformance of ${bench.url}`, conformanceText(result.outcomes, process.stdout));
    }
    if (bench.subscription && bench.only !== 'conformance') {
      result.fanOut = await measureFanOut(bench, trigger, say);
      if (!bench.isJson) print(`Fan-out of ${bench.url}`, fanOutText(result.fanOut, process.stdout));
    }
  } finally {
    await trigger?.close();
    // What was found is not lost if the rest fails.
    if (bench.isJson && Object.keys(result).length > 0) process.stdout.write(jsonOf(bench.url, result));
  }
  return result.outcomes?.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

async function tryConformance(bench: Bench, trigger: EventTrigger | undefined): Promise<Outcome[]> {
  const subject = await survey(bench, trigger);
  let done = 0;
  const progress = setInterval(() => say(`${done} of ${protocolRows.length} rows are tried`), REPORT_MS);
  try {
    return await tryRows(protocolRows, subject, {
      patienceMs: bench.timeoutMs,
      concurrency: CONCURRENCY,
      onOutcome: () => done++,
    });
  } finally {
    clearInterval(progress);
  }
}

function jsonOf(url: string, { outcomes, fanOut }: Result): string {
  const rows = outcomes?.map(({ row: { id, level, title }, ...outcome }) => ({ id, level, title, ...outcome }));
  const conformance = outcomes && { ...scoreOf(outcomes), rows };
  return `${escapeHidden(JSON.stringify({ url, conformance, fanOut }, undefined, 2))}\n`;
}

function print(heading: string, text: string): void {
  process.stdout.write(`${paint(process.stdout, 'bold', heading)}\n\n${text}\n`);
}

function say(line: string): void {
  process.stderr.write(`${paint(process.stderr, 'dim', line)}\n`);
}
