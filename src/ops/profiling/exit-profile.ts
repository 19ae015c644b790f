import type { Logger } from '../../base/log.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { LifeProfile } from './life-profile.ts';
import { parseTarget, writeProfile } from '../../config/profile-target.ts';

export interface ExitProfileOptions {
  /** A directory, or a URL. */
  readonly target: string;
  readonly facts: { readonly pod: string; readonly role: string; readonly version: string };
  /** Longest time for the writing, in ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

const MAX_POD_LENGTH = 100;

/** The CPU profile of a process's whole life, written when it ends, as a `.cpuprofile`. */
export class ExitProfile {
  readonly #options: ExitProfileOptions;
  readonly #life = new LifeProfile();
  readonly #startedAt = new Date();
  #finishing: Promise<void> | undefined;

  constructor(options: ExitProfileOptions) {
    this.#options = options;
  }

  /** Begins to record. Called once. */
  start(): Promise<void> {
    return this.#life.start();
  }

  /** Ends the recording and writes it, or logs why it could not. Never rejects; takes `timeoutMs` at most. Idempotent. */
  finish(): Promise<void> {
    this.#finishing ??= this.#finish();
    return this.#finishing;
  }

  async #finish(): Promise<void> {
    const { target, facts, timeoutMs, log } = this.#options;
    const startedAt = performance.now();
    try {
      const name = `${fileName(facts, this.#startedAt)}.cpuprofile`;
      const body = Buffer.from(JSON.stringify(this.#life.stop()));
      const signal = AbortSignal.timeout(timeoutMs);
      // A file system may hang.
      await orAborted(writeProfile(parseTarget(target), { name, body }, signal), signal, () => signal.reason as Error);
      const durationMs = Math.round(performance.now() - startedAt);
      log.info({ file: name, bytes: body.length, durationMs }, 'the profile of PROFILE_ON_EXIT is written');
    } catch (error) {
      const { name, message } = error as Error;
      const reason = name === 'TimeoutError' ? `not written within ${timeoutMs} ms` : message;
      log.error({ reason }, 'the profile of PROFILE_ON_EXIT is lost');
    }
  }
}

/** Without an extension. A pod's name may be any text. */
function fileName({ pod, role, version }: ExitProfileOptions['facts'], startedAt: Date): string {
  const time = startedAt.toISOString().replaceAll(':', '-');
  return `crier-${pod.slice(0, MAX_POD_LENGTH)}-${role}-${version}-${time}`.replace(/[^A-Za-z0-9._-]/g, '-');
}
