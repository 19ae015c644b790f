import { parseArgs } from 'node:util';
import { stopSignal } from '../deploy/stop-signal.ts';
import { CLIENT_CORE, pinThisProcess } from './pinning.ts';
import { crierPod } from './story/pod.ts';
import { Ticker } from './story/ticker.ts';
import { FULL_PHASES, SHORT_PHASES } from './story/result.ts';
import type { Phases } from './story/result.ts';
import { runStory } from './story/run.ts';
import { startStack } from './story/stack.ts';

const USAGE = `The story: one pod, bare, then with idle sockets, then in a flood of one record.

Usage: npm run loadtest -- [flags]
`;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '4000' },
    bare: { type: 'string' },
    idle: { type: 'string' },
    flood: { type: 'string' },
    full: { type: 'boolean', default: false },
    concurrency: { type: 'string', default: '3' },
    ahead: { type: 'string' },
    out: { type: 'string', default: 'story' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack((line) => process.stderr.write(`${line}\n`), signal);
  try {
    const ticker = new Ticker(process.stderr);
    const result = await runStory(crierPod, phases(), {
      ...stack,
      sockets: number('sockets', values.sockets),
      loops: number('concurrency', values.concurrency),
      ahead: values.ahead === undefined ? undefined : number('ahead', values.ahead),
      signal,
      onSample: (sample) => ticker.tick(sample),
    });
    process.stdout.write(`${JSON.stringify({ ...result, samples: undefined }, null, 2)}\n`);
  } finally {
    await stack.stop();
  }
}

function phases(): Phases {
  const defaults = values.full ? FULL_PHASES : SHORT_PHASES;
  const seconds = (flag: 'bare' | 'idle' | 'flood', fallback: number) =>
    values[flag] === undefined ? fallback : number(flag, values[flag]);
  return {
    bareSeconds: seconds('bare', defaults.bareSeconds),
    idleSeconds: seconds('idle', defaults.idleSeconds),
    floodSeconds: seconds('flood', defaults.floodSeconds),
  };
}

function number(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${flag}: expected a whole number from 1, got "${text}"`);
  return Number(text);
}

const signal = stopSignal();
main(signal).then(
  // Signal handlers stay, but nothing else may keep this process.
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`loadtest: ${(signal.aborted ? (signal.reason as Error) : (error as Error)).message}\n`);
    process.exit(signal.aborted ? 130 : 1);
  },
);
