import type { LoopLag } from '../../gateway/http/loop-lag.ts';
import { sendJson } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import { withTimeout } from '../../base/with-timeout.ts';
import type { Member } from './members.ts';
import type { PodProcess } from './pod-process.ts';

export interface PodHealthOptions {
  readonly status: () => 'starting' | 'ready' | 'draining';
  readonly members: () => readonly Member[];
  /** Of this process. */
  readonly lag: LoopLag;
  /** Time in ms without an answer from which a process is stuck. Default: 30,000. */
  readonly maxSilenceMs?: number;
}

/** Longest wait in ms for a process: less than a probe waits. */
const TIMEOUT_MS = 500;

/** What one process says of itself. */
interface State {
  readonly member: Member;
  readonly status: string;
  readonly isReady: boolean;
  readonly details: object;
  readonly reasons: readonly string[];
}

/** `/healthz`, `/readyz` and `/startupz` of a pod of several processes, of which each is asked. */
export class PodHealth {
  readonly #options: PodHealthOptions;
  readonly #maxSilenceMs: number;
  /** When the first of the questions was asked that a process has not answered since. */
  readonly #silentSince = new WeakMap<PodProcess, number>();
  /** The question that a process is asked now. */
  readonly #asking = new WeakMap<PodProcess, Promise<void>>();

  constructor(options: PodHealthOptions) {
    this.#options = options;
    this.#maxSilenceMs = options.maxSilenceMs ?? 30_000;
  }

  /** By path. */
  readonly routes: readonly [string, Route][] = [
    ['/healthz', publicRoute((response) => this.#health(response))],
    ['/readyz', publicRoute((response) => this.#readiness(response))],
    ['/startupz', publicRoute((response) => this.#startup(response))],
  ];

  /** Unhealthy while this process or one of the others is blocked: one that has ended is replaced, one that is blocked may stay so. */
  async #health(response: Parameters<Route['handle']>[1]): Promise<void> {
    const { lag, members } = this.#options;
    const loopLagMs = Math.round(lag.lagMs);
    const serving = members().flatMap(({ process }) => (process?.isServing ? process : []));
    const silences = await Promise.all(
      serving.map(async (process) => ({ name: process.name, ms: await this.#silenceMs(process) })),
    );
    const stuck = silences.filter(({ ms }) => ms >= this.#maxSilenceMs).map(({ name }) => name);
    const isAlive = loopLagMs < this.#maxSilenceMs && stuck.length === 0;
    sendJson(response, isAlive ? 200 : 503, { status: isAlive ? 'alive' : 'stuck', loopLagMs, stuck });
  }

  async #silenceMs(process: PodProcess): Promise<number> {
    const asking = this.#asking.get(process) ?? this.#ask(process);
    await withTimeout(() => asking, TIMEOUT_MS).catch(() => undefined);
    return performance.now() - (this.#silentSince.get(process) ?? performance.now());
  }

  /** A late answer counts, too: the process was busy only. Without it the next probe, whenever it comes, would take it for stuck. */
  #ask(process: PodProcess): Promise<void> {
    if (!this.#silentSince.has(process)) this.#silentSince.set(process, performance.now());
    const asking = process.ask('/healthz', this.#maxSilenceMs).then((answer) => {
      if (answer?.status === 200) this.#silentSince.delete(process);
      this.#asking.delete(process);
    });
    this.#asking.set(process, asking);
    return asking;
  }

  /** Ready while one gateway is: its clients go on while others, or the worker, are replaced. */
  async #readiness(response: Parameters<Route['handle']>[1]): Promise<void> {
    const { status, members } = this.#options;
    const states = await Promise.all(members().map(stateOf));
    const processes = Object.fromEntries(
      states.map(({ member, status: own, details }) => [member.name, { ...details, ends: member.ends, status: own }]),
    );
    const now = status();
    const gateways = states.filter(({ member }) => member.role === 'gateway');
    if (now !== 'ready' || gateways.some(({ isReady }) => isReady))
      return sendJson(response, now === 'ready' ? 200 : 503, { processes, status: now });
    const reasons = [...new Set(gateways.flatMap(({ reasons }) => reasons))];
    sendJson(response, 503, { processes, reasons, status: 'overloaded' });
  }

  #startup(response: Parameters<Route['handle']>[1]): void {
    const isStarted = this.#options.status() !== 'starting';
    sendJson(response, isStarted ? 200 : 503, { status: isStarted ? 'started' : 'starting' });
  }
}

function publicRoute(answer: (response: Parameters<Route['handle']>[1]) => Promise<void> | void): Route {
  return { methods: ['GET'], isPublic: true, handle: (_request, response) => answer(response) };
}

async function stateOf(member: Member): Promise<State> {
  const answer = await member.process?.ask('/readyz', TIMEOUT_MS);
  if (!answer) {
    const status = member.process?.isServing ? 'silent' : 'restarting';
    return { member, status, isReady: false, details: {}, reasons: [status] };
  }
  const {
    status,
    reasons = [],
    ...details
  } = JSON.parse(answer.body.toString()) as {
    readonly status: string;
    readonly reasons?: readonly string[];
  };
  return { member, status, isReady: answer.status === 200, details: { ...details, reasons }, reasons };
}
