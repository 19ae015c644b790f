import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '../stack/port.ts';
import { AUDIENCE, ISSUER, IdentityProvider } from '../test/gateway/identity/identity-provider.ts';
import { runCommand, say } from './command.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import { openClients } from './identity/expiring-clients.ts';
import type { ClientTimes, ClientTokens } from './identity/expiring-clients.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { writeResult } from './result-files.ts';
import { startServerProcess } from './processes/server-process.ts';
import type { ServerProcess } from './processes/server-process.ts';
import { markdownTable, textTable } from './table.ts';

const USAGE = `Lets the tokens of all clients expire, within one second and within one minute, and watches the closes and the reconnects. The
provider rotates its key after the clients have connected: their next tokens have the new one.

Usage: npm run bench:identity -- [flags]

  --sockets <number>  stock graphql-ws clients, each with one live subscription; default: 4000
  --out <name>        loadtest/results/<name>.json and .md; default: identity
  --help

Exits with 1 if a client is not closed with 4403 within 5 s of its expiry, receives an event after it, does not come back, if the
server's loop lag p99 exceeds 50 ms, or if it fetches the keys more often than once at its start and twice for the new key.
`;

const QUERY = 'subscription { catalogue_updated { auction_id } }';
/** From the start to the first expiry: time to sign the tokens and to connect. */
const LEAD_SECONDS = 45;
const HOUR_SECONDS = 3600;
const MAX_LATE_MS = 5_000;
const MAX_LAG_MS = 50;
/** At the start; for the new key; and one that an unlucky background refresh adds. */
const MAX_KEY_FETCHES = 3;
/** Longest wait for all clients after the last expiry: a stock client waits for 1.3 to 4 s before its first retry. */
const PATIENCE_MS = 15_000;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '4000' },
    out: { type: 'string', default: 'identity' },
    help: { type: 'boolean', short: 'h' },
  },
});

interface Outcome {
  readonly spreadSeconds: number;
  readonly clients: readonly ClientTimes[];
  /** From 2 s before the first expiry until all clients are back. */
  readonly lagP99Ms: number;
  /** Requests for the key set. */
  readonly keyFetches: number;
}

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const sockets = numberFlag('sockets', values.sockets);
  pinThisProcess(CLIENT_CORE);
  const outcomes: Outcome[] = [];
  for (const spreadSeconds of [1, 60]) outcomes.push(await expire(sockets, spreadSeconds, signal));
  await publish(outcomes);
}

/** The tokens of all sockets expire within `spreadSeconds`. */
async function expire(sockets: number, spreadSeconds: number, signal: AbortSignal): Promise<Outcome> {
  const closing: (() => Promise<void>)[] = [];
  try {
    const provider = await IdentityProvider.start({ after: (fn) => void closing.push(fn) });
    const [port, adminPort] = await freePorts(2);
    const server = await startServerProcess(new URL('../src/main.js', import.meta.url).pathname, port!, {
      ADMIN_PORT: String(adminPort),
      SAMPLE_INTERVAL_MS: '50',
      JWT_JWKS_URL: provider.url,
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWT_CLOCK_TOLERANCE_MS: '0',
    });
    closing.unshift(() => server.stop());
    const firstExp = Math.floor(Date.now() / 1000) + LEAD_SECONDS;
    say(`tokens that expire within ${spreadSeconds} s: signs them, and connects ${sockets} clients`);
    const tokens = await signTokens(provider, sockets, firstExp, spreadSeconds);
    const clients = await openClients({ url: `ws://127.0.0.1:${port}/graphql`, query: QUERY, tokens });
    say('connected; rotates the key, and signs the next tokens');
    await provider.rotate();
    provider.withdraw();
    for (const [i, token] of tokens.entries()) token.second = await signNext(provider, i, firstExp);
    const waitMs = firstExp * 1000 - 2_000 - Date.now();
    if (waitMs < 0) throw new Error('the clients were not connected, or their next tokens not signed, in time');
    say(`the first token expires in ${Math.round(waitMs / 1000) + 2} s`);
    await delay(waitMs, undefined, { signal });
    const lagP99Ms = await watch(server, clients, firstExp + spreadSeconds, signal);
    // Their subscriptions end with the server.
    return { spreadSeconds, clients: clients.map((times) => ({ ...times })), lagP99Ms, keyFetches: provider.fetches };
  } finally {
    for (const close of closing) await close();
  }
}

async function signTokens(provider: IdentityProvider, count: number, firstExp: number, spreadSeconds: number) {
  const tokens: ClientTokens[] = [];
  for (let i = 0; i < count; i++) {
    const exp = firstExp + (i % spreadSeconds);
    tokens.push({ exp, first: await provider.sign({ sub: `user-${i}`, exp }) });
  }
  return tokens;
}

/** The token of a client after its reconnect. */
function signNext(provider: IdentityProvider, client: number, firstExp: number): Promise<string> {
  return provider.sign({ sub: `user-${client}`, exp: firstExp + HOUR_SECONDS });
}

/** Resolves with the server's lag when all clients are back, or time is up. */
async function watch(server: ServerProcess, clients: readonly ClientTimes[], lastExp: number, signal: AbortSignal) {
  await server.reset();
  while (Date.now() < lastExp * 1000 + PATIENCE_MS && clients.some(({ backAfterMs }) => backAfterMs === undefined))
    await delay(50, undefined, { signal });
  return (await server.report()).lagP99Ms;
}

function faultsOf({ spreadSeconds, clients, lagP99Ms, keyFetches }: Outcome): string[] {
  const count = (what: string, isFault: (times: ClientTimes) => boolean) => {
    const faulty = clients.filter(isFault).length;
    return faulty > 0 ? [`${faulty} clients ${what}`] : [];
  };
  return [
    ...count('were not closed with 4403', ({ closeCode }) => closeCode !== 4403),
    ...count(
      'were closed later than 5 s after the expiry',
      ({ closedAfterMs = Infinity }) => closedAfterMs > MAX_LATE_MS,
    ),
    ...count('received an event after the expiry', ({ lateEvents }) => lateEvents > 0),
    ...count('did not come back', ({ backAfterMs, failure }) => backAfterMs === undefined || failure !== undefined),
    ...(keyFetches > MAX_KEY_FETCHES ? [`the keys were fetched ${keyFetches} times`] : []),
    ...(lagP99Ms > MAX_LAG_MS ? [`the server's loop was ${lagP99Ms.toFixed(0)} ms late (p99)`] : []),
  ].map((fault) => `within ${spreadSeconds} s: ${fault}`);
}

function tableOf(outcomes: readonly Outcome[]): string[][] {
  const row = (what: string, cell: (outcome: Outcome) => string) => [what, ...outcomes.map(cell)];
  const closes = ({ clients }: Outcome) => clients.flatMap(({ closedAfterMs }) => closedAfterMs ?? []);
  const backs = ({ clients }: Outcome) => clients.flatMap(({ backAfterMs }) => backAfterMs ?? []);
  return [
    row('tokens expire within', ({ spreadSeconds }) => `${spreadSeconds} s`),
    row('clients', ({ clients }) => `${clients.length}`),
    row('closed with 4403', ({ clients }) => `${clients.filter(({ closeCode }) => closeCode === 4403).length}`),
    row('closed, s after the expiry: first / p50 / last', (outcome) => seconds(closes(outcome))),
    row('events after the expiry', ({ clients }) => `${clients.reduce((sum, { lateEvents }) => sum + lateEvents, 0)}`),
    row('back', (outcome) => `${backs(outcome).length}`),
    row('back, s after the close: first / p50 / last', (outcome) => seconds(backs(outcome))),
    row('fetches of the keys', ({ keyFetches }) => `${keyFetches}`),
    row('loop lag p99, ms', ({ lagP99Ms }) => lagP99Ms.toFixed(1)),
  ];
}

/** The least, the median and the largest, in seconds. */
function seconds(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => ((sorted[Math.floor(share * (sorted.length - 1))] ?? NaN) / 1000).toFixed(2);
  return `${at(0)} / ${at(0.5)} / ${at(1)}`;
}

async function publish(outcomes: readonly Outcome[]): Promise<void> {
  const faults = outcomes.flatMap(faultsOf);
  const table = tableOf(outcomes);
  const packages = ['ws', 'jose', 'graphql-ws'].map((name) => `node_modules/${name}`);
  const conditions = { ...conditionsOf(packages), flags: `--sockets ${values.sockets}` };
  const figures = Object.fromEntries(table.map(([what = '', ...cells]) => [what, cells]));
  const verdict = faults.length === 0 ? 'Every bound was kept.' : faults.join('\n\n');
  const md = `# Results: ${values.out}\n\n${markdownTable(table)}\n${verdict}\n\n${conditionsList(conditions)}`;
  const paths = await writeResult(values.out, { conditions, figures, faults }, { md });
  process.stdout.write(`\n${textTable(table)}\n${paths.join(' ')}\n`);
  for (const fault of faults) say(`identity: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

runCommand('identity', main);
