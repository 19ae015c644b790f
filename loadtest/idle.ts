import { SECRET, openIdle } from './idle/idle-sockets.ts';
import type { IdleSocketOptions } from './idle/idle-sockets.ts';
import { measureSteps } from './idle/steps.ts';
import { cpuMs } from './processes/process-usage.ts';
import { CRIER, startServer } from './processes/server-process.ts';
import { base, decimal, on, optional, text, whole, wholes } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { Scope } from './runner/scope.ts';
import { spreadOf, spreadsOf } from './runner/spread.ts';

/** Sockets before the measured ones, so that one-time costs of the server (code, caches, free pages) do not count. */
const FIRST_SOCKETS = 1000;

/** The cost of a socket. */
interface SocketCost {
  /** Resident bytes that it adds, after a collection. */
  readonly bytes: number;
  /** CPU of the server to open it, in µs: the handshake and, for crier, `connection_init` and `subscribe`. */
  readonly openUs: number;
}

interface Round {
  readonly bare: SocketCost;
  readonly crier: SocketCost;
  readonly base?: SocketCost;
}

export const scenario = defineScenario({
  name: 'idle',
  question:
    'Resident memory per idle socket, and CPU to open it: crier with one live subscription on each, against bare `ws`.',
  flags: {
    sockets: whole('sockets', 4000),
    rounds: whole('rounds', 3),
    limit: decimal('most that crier may take, as a multiple of bare ws', 1.4),
    base: base('measured in the same run'),
    // Its nullable argument is omitted, so all sockets share a channel.
    query: text('the subscription', 'subscription { catalogue_updated { auction_id } }'),
    compressed: on('clients offer permessage-deflate, and COMPRESSION is on'),
    token: on('each connection to crier has a JSON Web Token of 800 bytes and of its own user'),
    steps: optional(
      wholes(
        'crier alone, with these numbers of sockets: its memory by their slope, where it goes, and 100,000 sockets by projection',
        '',
      ),
    ),
  },
  out: ({ steps, compressed }) => (steps ? `idle-steps${compressed ? '-compressed' : ''}` : 'idle'),
  packages: ['ws'],
  isPinned: false,
  notes: 'Exits with 1 when crier takes more than --limit times what bare ws takes.',
  run: async ({ flags, scope, say }) => {
    const settings = {
      SAMPLE_INTERVAL_MS: '3600000',
      ...(flags.token && { JWT_SECRET: SECRET }),
      ...(flags.compressed && { COMPRESSION: 'on' }),
    };
    const options = { query: flags.query, hasToken: flags.token, isCompressed: flags.compressed };
    if (flags.steps) return measureSteps([FIRST_SOCKETS, ...flags.steps], settings, options, scope);
    const measure = (script: string, of: IdleSocketOptions) =>
      costOf({ script, environment: settings }, flags.sockets, of, scope);
    const rounds: Round[] = [];
    for (let round = 1; round <= flags.rounds; round++) {
      const bare = await measure('servers/bare-ws.js', { ...options, query: undefined });
      const crier = await measure(CRIER, options);
      const ofBase = flags.base === undefined ? {} : { base: await measure(flags.base, options) };
      rounds.push({ bare, crier, ...ofBase });
      say(
        `round ${round}: bare ws ${textOf(bare)}, crier ${textOf(crier)}${ofBase.base ? `, base ${textOf(ofBase.base)}` : ''}`,
      );
    }
    const costs = (of: (round: Round) => SocketCost) =>
      spreadsOf(rounds, { bytes: (round) => of(round).bytes, openUs: (round) => of(round).openUs });
    const ratioTo = (of: (round: Round) => SocketCost, what: keyof SocketCost = 'bytes') =>
      spreadOf(rounds.map((round) => round.crier[what] / of(round)[what]));
    const [bare, crier, ratio] = [
      costs((round) => round.bare),
      costs((round) => round.crier),
      ratioTo((round) => round.bare),
    ];
    const ofBase = flags.base !== undefined && {
      base: costs((round) => round.base!),
      ratioToBase: ratioTo((round) => round.base!),
      openRatioToBase: ratioTo((round) => round.base!, 'openUs'),
    };
    const row = (name: string, { bytes, openUs }: typeof bare, times: string) => [
      name,
      `${(bytes.median / 1024).toFixed(1)} (${(bytes.min / 1024).toFixed(1)} to ${(bytes.max / 1024).toFixed(1)})`,
      openUs.median.toFixed(0),
      times,
    ];
    return {
      sections: [
        {
          table: [
            ['server', 'KB for a socket', 'CPU µs to open it', 'crier, times the memory'],
            row('bare ws', bare, ratio.median.toFixed(2)),
            row('crier', crier, ''),
            ...(ofBase ? [row('base', ofBase.base, ofBase.ratioToBase.median.toFixed(2))] : []),
          ],
        },
      ],
      success: `Median ratio ${ratio.median.toFixed(2)} (limit ${flags.limit}).`,
      faults:
        ratio.median > flags.limit ? [`${ratio.median.toFixed(2)} times what bare ws takes, limit ${flags.limit}`] : [],
      data: {
        what: 'RSS in bytes per idle socket, and CPU of the server in µs to open it; crier with one live subscription per socket',
        ...{ sockets: flags.sockets, rounds: rounds.length, bare, crier, ratio },
        ...ofBase,
      },
    };
  },
});

/** The server's growth by `count` sockets, read after garbage collections, and its CPU while they open. */
async function costOf(
  options: Parameters<typeof startServer>[0],
  count: number,
  socketOptions: IdleSocketOptions,
  outer: Scope,
): Promise<SocketCost> {
  const scope = new Scope();
  outer.after(() => scope.close());
  const server = await startServer(options, scope);
  const { port, pid } = server;
  const sockets = await openIdle(port, FIRST_SOCKETS, socketOptions);
  const [before, cpuBefore] = [await server.keptBytes(), cpuMs(pid)];
  sockets.push(...(await openIdle(port, count, socketOptions)));
  const openUs = ((cpuMs(pid) - cpuBefore) * 1000) / count;
  const bytes = ((await server.keptBytes()) - before) / count;
  for (const socket of sockets) socket.terminate();
  await scope.close();
  return { bytes, openUs };
}

function textOf({ bytes, openUs }: SocketCost): string {
  return `${(bytes / 1024).toFixed(1)} KB and ${openUs.toFixed(0)} µs`;
}
