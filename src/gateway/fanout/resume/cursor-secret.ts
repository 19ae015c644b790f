import { randomBytes } from 'node:crypto';
import type { Shared } from '../../../bus/shared.ts';
import { Cursors } from './cursor.ts';

export interface CursorSecretOptions {
  /** '': the pods agree on a random one, which is valid as long as the bus keeps it. */
  readonly configured: string;
  readonly bus: Pick<Shared, 'agree'>;
}

/** Interval in ms at which each pod checks that the pods still agree: the bus may have lost the secret. */
const INTERVAL_MS = 5_000;

/** The secret that cursors are signed with, the same on every pod. */
export class CursorSecret {
  readonly #bus: Pick<Shared, 'agree'>;
  #secret: string;
  #cursors: Cursors | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor({ configured, bus }: CursorSecretOptions) {
    this.#bus = bus;
    this.#secret = configured || randomBytes(32).toString('base64url');
    if (configured) this.#cursors = new Cursors(configured);
  }

  /** Undefined until the bus has been reached. */
  get cursors(): Cursors | undefined {
    return this.#cursors;
  }

  /** Resolves after the first attempt, however it ended; never rejects. */
  async start(): Promise<void> {
    if (this.#cursors) return;
    this.#timer = setInterval(() => void this.#agree(), INTERVAL_MS);
    await this.#agree();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }

  async #agree(): Promise<void> {
    let secret: string;
    try {
      secret = await this.#bus.agree('cursor-secret', this.#secret);
    } catch {
      return; // The bus logs its own outage.
    }
    if (this.#cursors && secret === this.#secret) return;
    this.#secret = secret;
    this.#cursors = new Cursors(secret);
  }
}
