import { protocolRows } from '../conformance/protocol-rows.ts';
import type { Subject } from '../conformance/subject.ts';
import { tryRows } from '../conformance/trial.ts';
import type { Outcome } from '../conformance/trial.ts';
import { escapeHidden } from '../../base/visible.ts';
import { paint } from '../../base/paint.ts';
import { readBench } from './arguments.ts';
import type { Bench } from './arguments.ts';
import { conformanceText, scoreOf } from './conformance-report.ts';
import { fanOutText } from './fan-out-report.ts';
import { measureFanOut } from './fan-out.ts';
import type { FanOut } from './fan-out.ts';
import { meet } from './first-contact.ts';
import { Progress } from './progress.ts';
import { unlessStopped } from './stop.ts';
import { survey } from './survey.ts';
import { EventTrigger } from './trigger.ts';

export { usage } from './arguments.ts';

/** Rows that run at the same time: most wait for the server. */
const CONCURRENCY = 6;
/** As a shell says it of a process that SIGINT ended. */
const INTERRUPTED = 130;

interface Result {
  outcomes?: readonly Outcome[];
  fanOut?: FanOut;
}

export async function run(args: readonly string[]): Promise<number> {
  const bench = readBench(args);
  const stop = new AbortController();
  // The first Ctrl-C ends the waits, so that what was found is printed. A second one ends the process.
  process.once('SIGINT', () => stop.abort());
  const result: Result = {};
  const progress = new Progress();
  try {
    await tryServer(bench, result, progress, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    progress.close();
    // What was found is not lost if the rest fails.
    if (bench.isJson && Object.keys(result).length > 0) process.stdout.write(jsonOf(bench.url, result));
  }
  if (stop.signal.aborted) {
    process.stderr.write('interrupted\n');
    return INTERRUPTED;
  }
  return result.outcomes?.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

/** Fills in the result, and prints each part when it is known. */
async function tryServer(bench: Bench, result: Result, progress: Progress, stop: AbortSignal): Promise<void> {
  const trigger = bench.trigger && new EventTrigger(bench, bench.trigger);
  const print = (heading: string, text: string) => {
    progress.clear();
    if (!bench.isJson)
      process.stdout.write(`${paint(process.stdout, 'bold', `${heading} of ${bench.url}`)}\n\n${text}\n`);
  };
  try {
    progress.show(`connecting to ${bench.url}`);
    await unlessStopped(stop, meet(bench));
    if (bench.only !== 'fan-out') {
      if (bench.subscription) progress.show('waiting for a first event of the subscription');
      const subject = await unlessStopped(stop, survey(bench, trigger));
      result.outcomes = await tryConformance(bench, subject, progress, stop);
      print('Conformance', conformanceText(result.outcomes, bench.timeoutMs, process.stdout));
    }
    if (bench.subscription && bench.only !== 'conformance' && !stop.aborted) {
      result.fanOut = await measureFanOut(bench, trigger, progress, stop);
      print('Fan-out', fanOutText(result.fanOut, process.stdout));
    }
  } finally {
    await trigger?.close();
  }
}

function tryConformance(bench: Bench, subject: Subject, progress: Progress, stop: AbortSignal): Promise<Outcome[]> {
  return tryRows(protocolRows, subject, {
    patienceMs: bench.timeoutMs,
    concurrency: CONCURRENCY,
    stop,
    onProgress: (done, running) => {
      const ids = [...running].map(({ id }) => id).join(', ');
      progress.show(`${done} of ${protocolRows.length} rows are tried; under way: ${ids}`);
    },
  });
}

function jsonOf(url: string, { outcomes, fanOut }: Result): string {
  const rows = outcomes?.map(({ row: { id, level, title, source }, ...outcome }) => ({
    id,
    level,
    title,
    source,
    ...outcome,
  }));
  const conformance = outcomes && { ...scoreOf(outcomes), rows };
  return `${escapeHidden(JSON.stringify({ url, conformance, fanOut }, undefined, 2))}\n`;
}
