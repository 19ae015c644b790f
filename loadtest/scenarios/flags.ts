import { parseArgs } from 'node:util';
import type { ScenarioSettings } from './result.ts';
import { scenarioOf, scenarios } from './scenario.ts';
import type { Scenario } from './scenario.ts';

export const USAGE = `A mixed load, reconciled record by record: delivered, duplicated and lost records, and their latency.

Usage: npm run loadtest -- --scenario <${scenarios.map(({ name }) => name).join('|')}> [flags]

  --seed <number>         seed of the random load; default: 1
  --seconds <number>      duration of the window; default: 30, with churn and deploy 40
  --clients <number>      normal clients; default: 1000
  --stock <number>        how many of them are the stock graphql-ws client; default: 50
  --slow <number>         additional clients that read at most 4 KB a second; default: 20 with slow, else 0
  --subscriptions <number>  subscriptions per client, 1 to 10; default: 2
  --auctions <number>     default: 500
  --zipf <number>         exponent of the auctions' popularity; 0: uniform; default: 1
  --rate <number>         records per second; default: 100
  --reconnect-seconds <number>  interval at which every client reconnects; 0: never; default: 15 with churn, else 0
  --out <name>            loadtest/results/<name>.json and .md; default: scenario-<name>
  --help

The scenarios storm, jitter, avalanche and idle have flags of their own: --scenario storm --help.

Exits with 1 when a promised record was lost, or an unexpected message arrived.
`;

export interface ScenarioRequest {
  readonly scenario: Scenario;
  readonly settings: ScenarioSettings;
  /** Base name of the result files. */
  readonly out: string;
}

const OPTIONS = {
  scenario: { type: 'string' },
  seed: { type: 'string', default: '1' },
  seconds: { type: 'string' },
  clients: { type: 'string', default: '1000' },
  stock: { type: 'string', default: '50' },
  slow: { type: 'string' },
  subscriptions: { type: 'string', default: '2' },
  auctions: { type: 'string', default: '500' },
  zipf: { type: 'string', default: '1' },
  rate: { type: 'string', default: '100' },
  'reconnect-seconds': { type: 'string' },
  out: { type: 'string' },
} as const;

/** Parses a command line. Returns undefined for `--help`. @throws Error naming the flag, its value and the expected values. */
export function readFlags(words: readonly string[]): ScenarioRequest | undefined {
  // parseArgs rejects `--scenario --help`, because it names no scenario.
  if (words.some((word) => word === '--help' || word === '-h')) return undefined;
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const scenario = scenarioOf(values.scenario ?? '');
  const whole = (flag: keyof typeof OPTIONS, text: string | undefined, least = 0, most = Infinity) => {
    const isRight = /^\d+$/.test(text ?? '') && Number(text) >= least && Number(text) <= most;
    if (isRight) return Number(text);
    const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
    throw new Error(`--${flag}: expected a whole number ${range}, got "${text}"`);
  };
  const clients = whole('clients', values.clients, 1);
  const settings: ScenarioSettings = {
    seed: whole('seed', values.seed),
    clients,
    // A small fleet may consist of stock clients only.
    stock: Math.min(clients, whole('stock', values.stock)),
    slow: whole('slow', values.slow ?? String(scenario.slow)),
    subscriptionsPerClient: whole('subscriptions', values.subscriptions, 1, 10),
    auctions: whole('auctions', values.auctions, 1),
    zipfExponent: decimal('zipf', values.zipf),
    recordsPerSecond: whole('rate', values.rate, 1),
    seconds: whole('seconds', values.seconds ?? String(scenario.seconds), 1),
    churnSeconds: whole('reconnect-seconds', values['reconnect-seconds'] ?? String(scenario.churnSeconds)),
  };
  return { scenario, settings, out: values.out ?? `scenario-${scenario.name}` };
}

function decimal(flag: string, text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new Error(`--${flag}: expected a number from 0, got "${text}"`);
}
