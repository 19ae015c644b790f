import cluster from 'node:cluster';
import { SetupError, StoppedError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { PodProcess } from './pod-process.ts';
import type { Ending } from './pod-process.ts';
import { Replacement } from './replacement.ts';
import type { Order, Started } from './reports.ts';

/** A slot of the pod, which one process has after the other. */
export interface Member {
  /** `worker`, or `gateway-1` and so on. */
  readonly name: string;
  readonly role: 'gateway' | 'worker';
  /** undefined: the last one has ended, and the next has not begun. */
  readonly process: PodProcess | undefined;
  /** Processes that have ended since the pod began. */
  readonly ends: number;
}

interface OpenMember extends Member {
  process: PodProcess | undefined;
  ends: number;
  readonly replacement: Replacement;
  /** Until the next process begins, or until the present one must serve. */
  timer?: NodeJS.Timeout;
}

/** As long as the start-up probe of the chart waits. */
const MAX_START_MS = 120_000;

export interface MembersOptions {
  readonly members: readonly Pick<Member, 'name' | 'role'>[];
  /** Of a process, beside that of this one. */
  readonly environment: (member: Pick<Member, 'name' | 'role'>) => Record<string, string>;
  /** Of the admin port of each process. */
  readonly token: string;
  readonly log: Logger;
  /** Called with each process that has ended. */
  readonly onEnd: (process: PodProcess) => void;
  /** The pod cannot go on: a process ends again and again. Called once at most, after the start. */
  readonly onLost: (error: Error) => void;
  /** Time in ms within which a process must serve, or it is killed and replaced. Default: 120,000. */
  readonly maxStartMs?: number;
}

/** Starts the processes of a pod, replaces those that end, and ends them together. */
export class Members {
  readonly #options: MembersOptions;
  readonly #members: readonly OpenMember[];
  readonly #waiting = new Set<string>();
  #status: 'starting' | 'serving' | 'closing' = 'starting';
  #onStarted: (started: Started) => void = () => undefined;
  #onFailure: (error: Error) => void = () => undefined;
  #closing: Promise<void> | undefined;
  /** What the first gateway said. */
  #gateway: Started | undefined;

  constructor(options: MembersOptions) {
    this.#options = options;
    this.#members = options.members.map((member) => ({
      ...member,
      process: undefined,
      ends: 0,
      replacement: new Replacement(),
    }));
    for (const { name } of this.#members) this.#waiting.add(name);
  }

  get all(): readonly Member[] {
    return this.#members;
  }

  /**
   * Resolves when each process has served once. @throws SetupError for what a person has to fix; Error when a process ends again and again
   * before it serves; StoppedError when `close` is called meanwhile. Processes may be left then: `close` ends them.
   */
  start(): Promise<Started> {
    process.once('exit', () => this.#members.forEach((member) => member.process?.kill()));
    return new Promise((resolve, reject) => {
      this.#onStarted = resolve;
      this.#onFailure = reject;
      for (const member of this.#members) this.#begin(member);
    });
  }

  order(signal: Order['signal']): void {
    for (const { process } of this.#members) process?.order(signal);
  }

  /** Drains all processes at once, and resolves when they have ended. @throws Error naming those that failed to close. Idempotent. */
  close(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<void> {
    this.#closing ??= this.#close(signal);
    return this.#closing;
  }

  async #close(signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
    this.#status = 'closing';
    for (const { timer } of this.#members) clearTimeout(timer);
    this.#onFailure(new StoppedError());
    this.order(signal);
    const endings = await Promise.all(
      this.#members.map(async ({ name, process }) => ({ name, ending: await process?.ended })),
    );
    // SIGTERM ends a process that starts.
    const failed = endings.filter(
      ({ ending }) => ending && ending.code !== 0 && ending.signal !== 'SIGTERM' && ending.refusal === undefined,
    );
    if (failed.length > 0)
      throw new Error(failed.map(({ name, ending }) => `${name} ended with ${textOf(ending!)}`).join('; '));
  }

  #begin(member: OpenMember): void {
    const { environment, token, log, maxStartMs = MAX_START_MS } = this.#options;
    const process = new PodProcess(member.name, cluster.fork(environment(member)), token);
    member.process = process;
    member.timer = setTimeout(() => {
      const { name, pid } = process;
      log.error({ process: name, pid, maxStartMs }, 'a process of the pod does not serve in time; it is killed');
      process.kill();
    }, maxStartMs);
    void process.started.then((started) => this.#onServing(member, started));
    void process.ended.then((ending) => this.#onEnded(member, process, ending));
  }

  #onServing({ name, role, ends, timer }: OpenMember, started: Started): void {
    clearTimeout(timer);
    if (role === 'gateway') this.#gateway ??= started;
    if (ends > 0)
      this.#options.log.info({ process: name, ends }, 'a process of the pod serves in place of one that ended');
    this.#waiting.delete(name);
    if (this.#waiting.size > 0 || this.#status !== 'starting') return;
    this.#status = 'serving';
    this.#onStarted(this.#gateway ?? started);
  }

  #onEnded(member: OpenMember, process: PodProcess, ending: Ending): void {
    const { log, onEnd, onLost } = this.#options;
    clearTimeout(member.timer);
    member.ends++;
    member.process = undefined;
    onEnd(process);
    if (this.#status === 'closing') return;
    const isPodStarting = this.#status === 'starting';
    const { refusal, code: exitCode, signal: exitSignal } = ending;
    if (refusal !== undefined && isPodStarting) return this.#onFailure(new SetupError(refusal));
    const backoffMs = member.replacement.delayAfter({ servedMs: process.servedMs, isPodStarting });
    const { ends } = member.replacement;
    if (backoffMs !== undefined) {
      const { pid } = process;
      log.error(
        { process: member.name, pid, exitCode, exitSignal, reason: refusal, ends, backoffMs },
        'a process of the pod has ended; another one follows',
      );
      member.timer = setTimeout(() => this.#begin(member), backoffMs);
      return;
    }
    const error = new Error(
      `${member.name} ended ${ends} times before it served, at last with ${refusal ?? textOf(ending)}`,
    );
    if (isPodStarting) this.#onFailure(error);
    else onLost(error);
  }
}

function textOf({ code, signal }: Ending): string {
  return code === null ? (signal ?? 'an error') : `code ${code}`;
}
