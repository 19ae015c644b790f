import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../../stack/port.ts';
import { stableMembers } from '../../../test/end-to-end/producers.ts';
import { cpuMs, cpuWaitMs } from '../../processes/process-usage.ts';
import { startServerProcess } from '../../processes/server-process.ts';
import type { ServerProcess } from '../../processes/server-process.ts';
import { sumOfCounter } from '../../story/pods/pod-process.ts';

const GROUP_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

export interface PodsOptions {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  readonly group: string;
}

export interface ScenarioPod {
  readonly name: string;
  readonly port: number;
  readonly server: ServerProcess;
  /** Whether /readyz reports ready. */
  isReady(): Promise<boolean>;
  /** Sum of all series of a counter of /metrics. */
  counter(name: string): Promise<number>;
}

export interface PodReport {
  readonly name: string;
  /** Share of one core in the window. */
  readonly cpuPercent: number;
  /** Share of the window spent runnable without a core. */
  readonly waitPercent: number;
  readonly residentMb: number;
  readonly lagP99Ms: number;
  /** Connections closed with 1013. */
  readonly slowConsumers: number;
}

/** crier's pods, with one consumer group and one channel prefix. */
export class Pods {
  readonly #options: PodsOptions;
  readonly #started: ScenarioPod[] = [];
  readonly #drained = new Set<ScenarioPod>();
  readonly #usage = new Map<ScenarioPod, { readonly cpuMs: number; readonly waitMs: number }>();
  #beganAt = 0;

  constructor(options: PodsOptions) {
    this.#options = options;
  }

  get running(): readonly ScenarioPod[] {
    return this.#started.filter((pod) => !this.#drained.has(pod));
  }

  /** Resolves when the pod listens and the consumer group is stable. */
  async start(signal: AbortSignal): Promise<ScenarioPod> {
    const { kafkaBrokers, redisUrl, channelPrefix, group } = this.#options;
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const server = await startServerProcess(new URL('../../../src/main.js', import.meta.url).pathname, port, {
      ROLE: 'all',
      GRAPH: 'loadtest/graphs/scenarios',
      ADMIN_PORT: String(adminPort),
      KAFKA_BROKERS: kafkaBrokers,
      KAFKA_GROUP_ID: group,
      REDIS_URL: redisUrl,
      CHANNEL_PREFIX: channelPrefix,
    });
    const admin = `http://127.0.0.1:${adminPort}`;
    const pod: ScenarioPod = {
      name: `pod ${String.fromCharCode(65 + this.#started.length)}`,
      port,
      server,
      isReady: () =>
        fetch(`${admin}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      counter: async (name) => {
        const text = await (await fetch(`${admin}/metrics`)).text();
        return sumOfCounter(text, name);
      },
    };
    this.#started.push(pod);
    await this.#groupOf(this.running.length, signal);
    return pod;
  }

  /** Sends SIGTERM. Calls `onUnready` when the pod is no longer ready. Resolves with its exit code or signal. */
  async drain(pod: ScenarioPod, onUnready: () => Promise<void>): Promise<number | NodeJS.Signals> {
    this.#drained.add(pod);
    process.kill(pod.server.pid, 'SIGTERM');
    while (await pod.isReady()) await delay(POLL_MS);
    await onUnready();
    return pod.server.ended;
  }

  /** Starts a period of `report`. */
  async begin(): Promise<void> {
    this.#beganAt = performance.now();
    for (const pod of this.running) {
      await pod.server.reset();
      this.#usage.set(pod, usageOf(pod));
    }
  }

  /** Usage of the running pods since `start`; of a later pod since its own start. */
  report(): Promise<PodReport[]> {
    const elapsedMs = performance.now() - this.#beganAt;
    return Promise.all(
      this.running.map(async (pod) => {
        const before = this.#usage.get(pod);
        const after = usageOf(pod);
        const { residentBytes, lagP99Ms } = await pod.server.report();
        return {
          name: pod.name,
          cpuPercent: ((after.cpuMs - (before?.cpuMs ?? 0)) / elapsedMs) * 100,
          waitPercent: ((after.waitMs - (before?.waitMs ?? 0)) / elapsedMs) * 100,
          residentMb: residentBytes / 2 ** 20,
          lagP99Ms,
          slowConsumers: await pod.counter('crier_slow_consumers_total'),
        };
      }),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.map(({ server }) => server.stop()));
  }

  async #groupOf(members: number, signal: AbortSignal): Promise<void> {
    const { kafkaBrokers, group } = this.#options;
    const deadline = performance.now() + GROUP_TIMEOUT_MS;
    while ((await stableMembers(kafkaBrokers, group)) !== members) {
      signal.throwIfAborted();
      if (performance.now() > deadline) throw new Error(`no stable group of ${members} pods in ${GROUP_TIMEOUT_MS} ms`);
      await delay(POLL_MS);
    }
  }
}

function usageOf({ server: { pid } }: ScenarioPod) {
  return { cpuMs: cpuMs(pid), waitMs: cpuWaitMs(pid) };
}
