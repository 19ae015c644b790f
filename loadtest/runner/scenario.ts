import { setTimeout as delay } from 'node:timers/promises';
import { CLIENT_CORE, pinThisProcess } from '../processes/pinning.ts';
import { runCommand, say } from './command.ts';
import { conditionsOf } from './conditions.ts';
import { helpOf, parseFlags, text } from './flags.ts';
import type { Flag, Flags, Values } from './flags.ts';
import { publish } from './report.ts';
import type { Report } from './report.ts';
import { Scope } from './scope.ts';

/** Longest wait of a command that was stopped for what it is starting. */
const STOP_MS = 10_000;

export interface Run<F extends Flags> {
  readonly flags: Values<F>;
  /** Of the result files. */
  readonly name: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Ends after the run, and with Ctrl-C. */
  readonly scope: Scope;
  /** Prints a line of progress. */
  readonly say: (line: string) => void;
  /** @throws the signal's reason */
  readonly pause: (ms: number) => Promise<void>;
}

/** What one command measures. */
export interface Scenario<F extends Flags> {
  /** Begins the lines of errors and faults. */
  readonly name: string;
  /** `bench:<name>` unless it has another command line. */
  readonly command?: string;
  readonly question: string;
  readonly flags: F;
  /** Base name of the results. Default: the name. */
  readonly out?: string | ((values: Values<F>) => string);
  /** When it exits with 1, and other notes of `--help`. */
  readonly notes: string;
  /** Packages whose versions are conditions. */
  readonly packages?: readonly string[];
  /** False: the process of the scenario is not pinned to the clients' core. */
  readonly isPinned?: boolean;
  /** Resolves with what it has found; undefined: it has printed all of it. */
  run(run: Run<F>): Promise<Report | undefined>;
}

type WithOut<F extends Flags> = F & { readonly out: Flag<string | undefined> };

export function defineScenario<F extends Flags>(scenario: Scenario<F>): Scenario<F> {
  return scenario;
}

/** Runs a scenario with the words of its command line, and exits. */
export function runScenario<F extends Flags>(scenario: Scenario<F>, words: readonly string[]): void {
  const { name, command = `bench:${name}`, question, notes, out = name } = scenario;
  runCommand(name, async (signal) => {
    const outHelp = `loadtest/results/<text>.json and .md; default: ${typeof out === 'string' ? out : 'its name'}`;
    const flags: WithOut<F> = { ...scenario.flags, out: { ...text(outHelp, ''), fallback: undefined } };
    const parsed = parseFlags(flags, words);
    if (!parsed) {
      const usage = `${question}\n\nUsage: npm run ${command} -- [flags]\n\n${helpOf(flags)}  --help\n\n${notes}\n`;
      return void process.stdout.write(usage);
    }
    const values = parsed.values as Values<F> & { readonly out: string | undefined };
    if (!/^[\w.-]+$/.test(values.out ?? '-')) throw new Error(`--out: expected a file name, got "${values.out}"`);
    if (scenario.isPinned !== false) pinThisProcess(CLIENT_CORE);
    const results = values.out ?? (typeof out === 'string' ? out : out(values));
    const report = await ended(scenario, { flags: values, name: results, signal });
    if (!report) return;
    const conditions = { ...conditionsOf(scenario.packages), flags: parsed.text };
    return publish(report, { command: name, name: results, conditions });
  });
}

/** Resolves when everything that the run has started has ended. */
async function ended<F extends Flags>(scenario: Scenario<F>, given: Pick<Run<F>, 'flags' | 'name' | 'signal'>) {
  const scope = new Scope();
  const { signal } = given;
  const pause = (ms: number) => delay(ms, undefined, { signal });
  const stopped = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );
  const running = scenario.run({ ...given, scope, say, pause });
  try {
    return await Promise.race([running, stopped]);
  } finally {
    await scope.close();
    if (signal.aborted) await Promise.race([running.catch(() => undefined), delay(STOP_MS)]);
    await scope.close();
  }
}
