import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../../src/base/errors.ts';
import { LogDestination } from '../../src/base/log-destination.ts';
import { createLog } from '../../src/base/log.ts';
import { podName } from '../../src/config/pod-name.ts';
import { startServer } from '../../src/server.ts';
import type { Server } from '../../src/server.ts';
import { readVersion } from '../../src/base/version.ts';
import { limitedConfig } from '../support/switches.ts';
import type { Scope } from '../support/socket.ts';
import { Pod, podEnvironment } from './pod.ts';

/** crier in the test's process. */
export class PodServer extends Pod {
  #server: Server | undefined;
  #shutdownTimeoutMs = 0;
  #failure: Error | undefined;
  #isEnded = false;

  get isEnded(): boolean {
    return this.#isEnded;
  }

  protected get addresses(): Readonly<Record<string, string>> {
    return this.#server?.announcement.facts.addresses ?? {};
  }

  /** @throws SetupError whose message a process would write to standard error. */
  async start(settings: Readonly<Record<string, string>>): Promise<this> {
    const config = limitedConfig(podEnvironment(settings));
    this.#shutdownTimeoutMs = config.SHUTDOWN_TIMEOUT_MS;
    const destination = new LogDestination(
      new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          this.log += chunk.toString();
          done();
        },
      }),
    );
    const facts = { pod: podName(config), role: config.ROLE, version: readVersion() };
    const log = createLog(config.LOG_LEVEL, facts, destination);
    const onFatal = (error: Error) => {
      this.#failure = error;
      this.#isEnded = true;
    };
    this.#server = await startServer(config, log, { onFatal, droppedLogLines: () => destination.droppedLines });
    this.output = this.#server.announcement.banner;
    return this;
  }

  /** @throws Error if the pod could not continue, or has not closed within SHUTDOWN_TIMEOUT_MS. */
  async stop(): Promise<void> {
    const late = new AbortController();
    const inTime = delay(this.#shutdownTimeoutMs, true, { signal: late.signal }).catch(() => false);
    const isLate = await Promise.race([this.#server?.close().then(() => false), inTime]);
    late.abort();
    this.#isEnded = true;
    if (isLate) throw new Error(`not closed within ${this.#shutdownTimeoutMs} ms\n${this.log}`);
    if (this.#failure) throw this.#failure;
  }
}

/** Starts a pod in the test's process. It is stopped at the end of the scope. */
export async function startPod(scope: Scope, settings: Readonly<Record<string, string>>): Promise<PodServer> {
  const pod = await new PodServer().start(settings);
  scope.after(() => pod.stop());
  return pod;
}

/** The reason why a pod does not start: its process writes it to standard error, after `crier: `, and ends with 1. */
export async function startRefusal(scope: Scope, settings: Readonly<Record<string, string>>): Promise<string> {
  const refusal: unknown = await startPod(scope, settings).catch((error: unknown) => error);
  assert.ok(refusal instanceof SetupError, `${String(refusal)}`);
  return refusal.message;
}
