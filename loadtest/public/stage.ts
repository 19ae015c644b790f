import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../stack/port.ts';
import { createTopics } from '../../stack/topics.ts';
import { stableMembers } from '../../test/end-to-end/producers.ts';
import { AUCTION_TOPIC } from '../fanout/auction.ts';
import { graphVariant, withBinding } from '../fanout/graph-variant.ts';
import type { GraphVariant } from '../fanout/graph-variant.ts';
import { callProcess } from '../processes/process-call.ts';
import { cpuMs } from '../processes/process-usage.ts';
import { startServerProcess, stopProcess } from '../processes/server-process.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import { startArguments } from '../processes/start-arguments.ts';
import type { StoryStack } from '../story/stack.ts';
import type { FleetPlan, FleetProgress, FleetReport } from './fleet.ts';

const GROUP_TIMEOUT_MS = 60_000;
const PROGRESS_MS = 2000;
/** Time beyond its duration after which a phase has failed. */
const GRACE_MS = 30_000;

export interface StagePod {
  readonly port: number;
  readonly server: ServerProcess;
}

/** Pods of one consumer group whose channels have a history, and the process of their clients. */
export class Stage {
  readonly #stack: StoryStack;
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #group = `public-${randomBytes(4).toString('hex')}`;
  readonly #pods: StagePod[] = [];
  #fleet: ChildProcess | undefined;
  #graph: GraphVariant | undefined;

  constructor(stack: StoryStack, say: (line: string) => void, signal: AbortSignal) {
    this.#stack = stack;
    this.#say = say;
    this.#signal = signal;
  }

  async open(): Promise<void> {
    this.#graph = await graphVariant(withBinding('history: {}'));
    await createTopics(this.#stack.kafkaBrokers, [
      { topic: AUCTION_TOPIC, numPartitions: 1 },
      { topic: 'crier-dead-letter', numPartitions: 1 },
    ]);
  }

  /** Resolves when the pod listens and the consumer group has this number of members. */
  async startPod(role: 'all' | 'gateway' | 'worker', workers: number, environment = {}): Promise<StagePod> {
    const { kafkaBrokers, redisUrl } = this.#stack;
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    this.#say(`starts a pod, ROLE=${role}`);
    const script = new URL('../../src/main.js', import.meta.url).pathname;
    const settings = {
      ...{ ROLE: role, GRAPH: this.#graph!.path, REDIS_URL: redisUrl, KAFKA_BROKERS: kafkaBrokers },
      ...{ KAFKA_GROUP_ID: this.#group, CHANNEL_PREFIX: `${this.#group}:`, ADMIN_PORT: String(adminPort) },
      // A worker listens on its admin port only, which tells that it has started.
      ...(role === 'worker' && { ADMIN_PORT: String(port) }),
      ...environment,
    };
    const server = await startServerProcess(script, port, settings, startArguments());
    this.#pods.push({ port, server });
    const deadline = performance.now() + GROUP_TIMEOUT_MS;
    while ((await stableMembers(kafkaBrokers, this.#group)) !== workers && workers > 0) {
      if (performance.now() > deadline) throw new Error(`no stable group of ${workers} in ${GROUP_TIMEOUT_MS} ms`);
      await delay(100, undefined, { signal: this.#signal });
    }
    return { port, server };
  }

  async connect(plan: Omit<FleetPlan, 'kafkaBrokers' | 'redisUrl'>): Promise<void> {
    const { kafkaBrokers, redisUrl } = this.#stack;
    // Not earlier: it would end while it has nothing to do.
    const script = new URL('fleet.js', import.meta.url).pathname;
    this.#fleet = fork(script, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--max-semi-space-size=32'],
    });
    const connecting = callProcess(this.#fleet, 'connect', { ...plan, kafkaBrokers, redisUrl } satisfies FleetPlan);
    await this.#during('clients connect', connecting, 120_000);
  }

  begin(period: { events: number; intervalMs: number; cutEveryMs: number }): Promise<void> {
    return callProcess(this.#fleet!, 'begin', period);
  }

  target(port: number): Promise<void> {
    return callProcess(this.#fleet!, 'target', port);
  }

  calm(): Promise<void> {
    return callProcess(this.#fleet!, 'calm');
  }

  /** CPU time that the clients' process has used, in ms. */
  get clientCpuMs(): number {
    return cpuMs(this.#fleet!.pid!);
  }

  report(): Promise<FleetReport> {
    return callProcess(this.#fleet!, 'report');
  }

  /** Resolves when `isOver`, or after `longestMs`. Prints progress. */
  async until(
    phase: string,
    longestMs: number,
    isOver: (progress: FleetProgress) => boolean = () => false,
  ): Promise<void> {
    const deadline = performance.now() + longestMs;
    const waiting = async () => {
      while (performance.now() < deadline) {
        if (isOver(await callProcess<FleetProgress>(this.#fleet!, 'progress'))) return;
        await delay(200, undefined, { signal: this.#signal });
      }
    };
    await this.#during(phase, waiting(), longestMs + GRACE_MS);
  }

  async close(): Promise<void> {
    if (this.#fleet) await stopProcess(this.#fleet);
    await Promise.all(this.#pods.map(({ server }) => server.stop()));
    await this.#graph?.remove();
  }

  async #during(phase: string, work: Promise<unknown>, longestMs: number): Promise<void> {
    const startedAt = performance.now();
    const timer = setInterval(() => {
      void callProcess<FleetProgress>(this.#fleet!, 'progress').then(
        ({ connected, disconnects, events, deliveries }) =>
          this.#say(
            `${phase}: ${Math.round((performance.now() - startedAt) / 1000)} s  connected ${connected}  disconnects ${disconnects}  events ${events}  deliveries ${deliveries}`,
          ),
        () => undefined,
      );
    }, PROGRESS_MS);
    const limit = new AbortController();
    const late = delay(longestMs, undefined, { signal: limit.signal }).then(
      () => Promise.reject(new Error(`${phase}: not over after ${longestMs} ms`)),
      () => undefined,
    );
    try {
      await Promise.race([work, late]);
    } finally {
      limit.abort();
      clearInterval(timer);
    }
  }
}
