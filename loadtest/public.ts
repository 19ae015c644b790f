import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { publishFaults } from './fault-report.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { avalanche } from './public/avalanche.ts';
import type { Delays } from './public/fleet-client.ts';
import { idle } from './public/idle.ts';
import { jitter } from './public/jitter.ts';
import { avalancheTable, faultsOf, idleTable, jitterTable } from './public/report.ts';
import { startStack } from './story/stack.ts';
import type { StoryStack } from './story/stack.ts';

const USAGE = `The public scenarios of AnyCable's benchmark (github.com/anycable/nodejs-websocket-bench), with crier's figures beside theirs.

Usage: npm run loadtest -- --scenario <jitter|avalanche|idle> [flags]

  --scenario jitter     TCP connections end about every 15 s, for at least 2 s, while one stream has two messages a second
  --scenario avalanche  a gateway is replaced, then a worker; how long are clients away?
  --scenario idle       connections with one subscription each: memory of the pod
  --clients <number>    default: 10000
  --delays <names>      of stock (those of @crier/client) and tuned (500 ms, doubling to 5 s, full jitter), a run for each; default: both
  --spread <ms>         with avalanche: DRAIN_SPREAD_MS, a run for each; default: 0,20000
  --out <name>          loadtest/results/<name>.json and .md; default: scenario-<scenario>
  --help

Exits with 1 when an event was lost or doubled, a client is away for longer than 3 s, or a client never returns.
`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string' },
    clients: { type: 'string', default: '10000' },
    delays: { type: 'string', default: 'stock,tuned' },
    spread: { type: 'string', default: '0,20000' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

interface Outcome {
  readonly table: string[][];
  readonly faults: readonly string[];
  readonly data: object;
}

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const clients = numberFlag('clients', values.clients);
  pinThisProcess(CLIENT_CORE);
  const { scenario } = values;
  const { table, faults, data } = await outcomeOf(scenario!, clients, signal);
  await publishFaults({
    command: scenario!,
    name: values.out ?? `scenario-${scenario}`,
    flags: { ...values, out: undefined },
    table,
    success: 'No event was lost or doubled.',
    faults,
    data,
  });
}

async function outcomeOf(scenario: string, clients: number, signal: AbortSignal): Promise<Outcome> {
  if (scenario === 'idle') {
    const result = await idle(clients, say);
    return { table: idleTable(result), faults: result.faults, data: { result } };
  }
  if (scenario === 'jitter') {
    const results = await each(delays(), signal, (one, stack) => jitter(clients, one, stack, say, signal));
    return {
      table: jitterTable(results),
      faults: results.flatMap(({ report }) => faultsOf(report)),
      data: { results },
    };
  }
  const spreads = values.spread.split(',').map((text) => numberFlag('spread', text, 0));
  const runs = await each(spreads, signal, (spreadMs, stack) =>
    avalanche(clients, { delays: delays()[0]!, spreadMs }, stack, say, signal),
  );
  const results = runs.flat();
  return {
    table: avalancheTable(results),
    faults: results.flatMap(({ report }) => faultsOf(report, true)),
    data: { results },
  };
}

/** Each run has a Kafka and a Redis of its own. */
async function each<Value, Result>(
  all: readonly Value[],
  signal: AbortSignal,
  run: (value: Value, stack: StoryStack) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const value of all) {
    signal.throwIfAborted();
    const stack = await startStack(say, signal);
    try {
      results.push(await run(value, stack));
    } finally {
      await stack.stop();
    }
  }
  return results;
}

function delays(): Delays[] {
  return values.delays.split(',').map((name) => {
    if (name === 'stock' || name === 'tuned') return name;
    throw new Error(`--delays: expected stock, tuned, got "${name}"`);
  });
}

runCommand('loadtest', main);
