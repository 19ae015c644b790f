import { parseArgs } from 'node:util';
import type { ScenarioSettings } from './result.ts';
import { scenarioOf, scenarios } from './scenario.ts';
import type { Scenario } from './scenario.ts';

export const USAGE = `A load of many kinds, reconciled record by record: what came, what came twice, what is missing, and how late.

Usage: npm run loadtest -- --scenario <${scenarios.map(({ name }) => name).join('|')}> [flags]

  --seed <number>         of everything that is random; default: 1
  --seconds <number>      of the window; default: 30, with churn and deploy 40
  --clients <number>      that read; default: 1000
  --stock <number>        so many of them are the stock graphql-ws client; default: 50
  --slow <number>         so many more read no more than 4 KB a second; default: 20 with slow, else 0
  --subscriptions <number>  of each client, 1 to 10; default: 2
  --auctions <number>     default: 500
  --zipf <number>         exponent of their popularity; 0: all alike; default: 1
  --rate <number>         records per second; default: 100
  --reconnect-seconds <number>  every client reconnects so often; 0: none does; default: 15 with churn, else 0
  --out <name>            loadtest/results/<name>.json and .md; default: scenario-<name>
  --help

Exits with 1 when anything was lost that is promised, or came that was not expected.
`;

export interface ScenarioRequest {
  readonly scenario: Scenario;
  readonly settings: ScenarioSettings;
  /** Names the files of results. */
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

/** What the words of a command line ask for; undefined: only help. @throws Error naming the flag, the value and what was expected. */
export function readFlags(words: readonly string[]): ScenarioRequest | undefined {
  // `--scenario --help` names no scenario: parseArgs would refuse it.
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
    // A small fleet may be stock clients altogether.
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
