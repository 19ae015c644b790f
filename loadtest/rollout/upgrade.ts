import { setTimeout as delay } from 'node:timers/promises';
import type { ServerProcess } from '../processes/server-process.ts';
import { say } from '../runner/command.ts';
import type { Rollout } from './rollout.ts';

export type Version = 'old' | 'new';

/** What runs together for a while. */
export interface Stage {
  readonly worker: Version;
  readonly gateways: Version;
  /** From the first replacement of this stage to its end, in seconds. */
  readonly seconds: number;
  /** Gateways whose credits the worker hears. */
  readonly heardGateways: number;
  /** Seconds for which partitions have waited for a gateway, added up. */
  readonly waitedSeconds: number;
}

/** The end of a replaced pod. */
export interface Ending {
  readonly role: 'worker' | 'gateway';
  readonly version: Version;
  readonly seconds: number;
  readonly ending: number | NodeJS.Signals;
}

/** Settings that both versions know. */
const COMMON = { LOG_LEVEL: 'warn' };
/** Settings of this version's gateways: a drain of seconds instead of half a minute. */
const NEW = { DRAIN_DELAY_MS: '500', DRAIN_SPREAD_MS: '3000' };
/** Less than half of the keep-alive of @crier/client, which would leave a stopped gateway. */
const STOPPED_MS = 3000;
/** Time for the gateway to answer again. */
const RECOVERY_MS = 1000;
const BACK_MS = 15_000;

/** Versions of the worker and of the gateways in a stage. */
export type StageVersions = readonly [worker: Version, gateways: Version];

/** Gateways first and back; then the worker first and back. */
export const ALL_STAGES: readonly StageVersions[] = [
  ['old', 'old'],
  ['old', 'new'],
  ['new', 'new'],
  ['old', 'new'],
  ['old', 'old'],
  ['new', 'old'],
  ['old', 'old'],
];

export interface UpgradePlan {
  /** The old version's script. */
  readonly base: string;
  readonly stages: readonly StageVersions[];
  /** Load in each stage after its replacements. */
  readonly secondsInStage: number;
  readonly signal: AbortSignal;
}

/** A worker and two gateways that are replaced one by one. */
export class Upgrade {
  readonly endings: Ending[] = [];
  readonly #rollout: Rollout;
  readonly #plan: UpgradePlan;
  readonly #versions = new Map<ServerProcess, Version>();
  #worker!: ServerProcess;
  #gateways: ServerProcess[] = [];
  #unrecognised = 0;

  constructor(rollout: Rollout, plan: UpgradePlan) {
    this.#rollout = rollout;
    this.#plan = plan;
  }

  async run(): Promise<Stage[]> {
    this.#worker = await this.#start('worker', 'old');
    this.#gateways = [await this.#start('gateway', 'old'), await this.#start('gateway', 'old')];
    await this.#rollout.route(...this.#gateways);
    say('connects the clients');
    await this.#rollout.connect();
    await this.#rollout.begin();
    const stages: Stage[] = [];
    for (const [worker, gateways] of this.#plan.stages) {
      say(`${worker} worker, ${gateways} gateways`);
      const startedAt = performance.now();
      if (this.#versions.get(this.#worker) !== worker) await this.#replaceWorker(worker);
      for (const gateway of [...this.#gateways])
        if (this.#versions.get(gateway) !== gateways) await this.#replaceGateway(gateway, gateways);
      await delay(this.#plan.secondsInStage * 1000, undefined, { signal: this.#plan.signal });
      const flow = await this.#stopAGateway();
      stages.push({ worker, gateways, seconds: (performance.now() - startedAt) / 1000, ...flow });
    }
    return stages;
  }

  /** Messages that a gateway did not recognise. */
  async unrecognised(): Promise<number> {
    for (const gateway of this.#gateways) await this.#countUnrecognised(gateway);
    return this.#unrecognised;
  }

  async #start(role: 'worker' | 'gateway', version: Version): Promise<ServerProcess> {
    const pod =
      version === 'old'
        ? { script: this.#plan.base, environment: COMMON }
        : { environment: { ...COMMON, ...(role === 'gateway' && NEW) } };
    const workers = role === 'worker' && this.#worker ? 2 : 1;
    const started = await this.#rollout.startPod(role, pod, workers);
    this.#versions.set(started, version);
    return started;
  }

  /** The new pod first, so that two serve meanwhile. */
  async #replaceGateway(old: ServerProcess, version: Version): Promise<void> {
    const started = await this.#start('gateway', version);
    const others = this.#gateways.filter((gateway) => gateway !== old);
    this.#gateways = [...others, started];
    await this.#rollout.route(...this.#gateways, old);
    await this.#countUnrecognised(old);
    await this.#end('gateway', old, this.#gateways);
    await this.#rollout.allBack(BACK_MS);
  }

  async #replaceWorker(version: Version): Promise<void> {
    const old = this.#worker;
    this.#worker = await this.#start('worker', version);
    await this.#end('worker', old, this.#gateways);
    await this.#rollout.hasWorkers(1);
  }

  async #end(role: 'worker' | 'gateway', pod: ServerProcess, gateways: readonly ServerProcess[]): Promise<void> {
    const { signalledAt, endedAt, ending } = await this.#rollout.drain(pod, ...gateways);
    const seconds = (endedAt - signalledAt) / 1000;
    this.endings.push({ role, version: this.#versions.get(pod)!, seconds, ending });
  }

  /** Stops a gateway for a while: the worker must wait for it, and go on when it does. */
  async #stopAGateway(): Promise<Pick<Stage, 'heardGateways' | 'waitedSeconds'>> {
    const waited = () => this.#worker.metric('crier_flow_limited_seconds_total');
    const before = await waited();
    const { pid } = this.#gateways[0]!;
    process.kill(pid, 'SIGSTOP');
    try {
      await delay(STOPPED_MS, undefined, { signal: this.#plan.signal });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await delay(RECOVERY_MS, undefined, { signal: this.#plan.signal });
    await this.#rollout.allBack(BACK_MS);
    const metrics = await this.#worker.metrics();
    const heardGateways = metrics.split('\n').filter((line) => line.startsWith('crier_flow_gateway_lag_bytes{')).length;
    return { heardGateways, waitedSeconds: (await waited()) - before };
  }

  async #countUnrecognised(gateway: ServerProcess): Promise<void> {
    this.#unrecognised += await gateway.metric('crier_unrecognised_messages_total');
  }
}
