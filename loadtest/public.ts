import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import type { Conditions } from './fanout/conditions.ts';
import { publishFaults } from './fault-report.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { avalanche } from './public/avalanche.ts';
import type { ClientKind } from './public/fleet-client.ts';
import { idle } from './public/idle.ts';
import { jitter } from './public/jitter.ts';
import type { Delays } from './public/reconnect-delays.ts';
import { avalanchePlans, jitterPlans } from './public/plans.ts';
import { avalanchePicture, jitterPicture } from './public/picture.ts';
import { avalancheTable, deployOf, faultsOf, idleTable, jitterTable } from './public/report.ts';
import { startStack } from './story/stack.ts';
import type { StoryStack } from './story/stack.ts';

const USAGE = `The public scenarios of AnyCable's benchmark (github.com/anycable/nodejs-websocket-bench), with crier's figures beside theirs.

Usage: npm run loadtest -- --scenario <jitter|avalanche|idle> [flags]

  --scenario jitter     TCP connections end about every 15 s, for at least 2 s, while one stream has two messages a second
  --scenario avalanche  a gateway is replaced, then a worker; how long are clients away?
  --scenario idle       connections with one subscription each: memory of the pod
  --clients <number>    default: 10000
  --kinds <names>       of stock (@crier/client) and raw (sockets that send the same and parse little), a run for each; default: both
  --delays <names>      of stock (those of @crier/client) and tuned (500 ms, doubling to 5 s, full jitter), a run for each;
                        default: both with jitter, stock with avalanche
  --spread <ms>         with avalanche: DRAIN_SPREAD_MS, a run for each; default: 0,20000
  --out <name>          loadtest/results/<name>.json, .md and, except with idle, .svg; default: scenario-<scenario>
  --help

Exits with 1 when an event was lost or doubled, a client is away for longer than 3 s, or a client never returns.
`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string' },
    clients: { type: 'string', default: '10000' },
    kinds: { type: 'string', default: 'stock,raw' },
    delays: { type: 'string' },
    spread: { type: 'string', default: '0,20000' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

interface Outcome {
  /** Beside the scenario and the clients. */
  readonly flags: object;
  readonly table: string[][];
  readonly faults: readonly string[];
  readonly data: object;
  readonly picture?: (conditions: Conditions) => string;
}

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const clients = numberFlag('clients', values.clients);
  pinThisProcess(CLIENT_CORE);
  const { scenario } = values;
  const { flags, ...outcome } = await outcomeOf(scenario!, clients, signal);
  await publishFaults({
    command: scenario!,
    name: values.out ?? `scenario-${scenario}`,
    flags: { scenario, clients, ...flags },
    success: 'No event was lost or doubled.',
    ...outcome,
  });
}

async function outcomeOf(scenario: string, clients: number, signal: AbortSignal): Promise<Outcome> {
  if (scenario === 'idle') {
    const result = await idle(clients, say);
    return { flags: {}, table: idleTable(result), faults: result.faults, data: { result } };
  }
  const kinds = namesOf<ClientKind>('kinds', values.kinds, ['stock', 'raw']);
  const delays = namesOf<Delays>('delays', values.delays ?? (scenario === 'jitter' ? 'stock,tuned' : 'stock'), [
    'stock',
    'tuned',
  ]);
  if (scenario === 'jitter') {
    const plans = jitterPlans({ clients, kinds, delays });
    const results = await each(plans, signal, (plan, stack) => jitter(plan, stack, say, signal));
    return {
      flags: { kinds, delays },
      table: jitterTable(results),
      faults: results.flatMap(({ report }) => faultsOf(report)),
      data: { results },
      picture: (conditions) => jitterPicture(results, conditions),
    };
  }
  const spreads = values.spread.split(',').map((text) => numberFlag('spread', text, 0));
  const plans = avalanchePlans({ clients, kinds, delays, spreads });
  const runs = await each(plans, signal, (plan, stack) => avalanche(plan, stack, say, signal));
  const results = runs.flat();
  return {
    flags: { kinds, delays, spread: spreads },
    table: avalancheTable(results),
    faults: results.flatMap((result) => faultsOf(result.report, true).map((fault) => `${deployOf(result)}: ${fault}`)),
    data: { results },
    picture: (conditions) => avalanchePicture(results, conditions),
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

function namesOf<Name extends string>(flag: string, names: string, known: readonly Name[]): Name[] {
  return names.split(',').map((name) => {
    const found = known.find((one) => one === name);
    if (found !== undefined) return found;
    throw new Error(`--${flag}: expected ${known.join(', ')}, got "${name}"`);
  });
}

runCommand('loadtest', main);
