import { randomBytes } from 'node:crypto';
import type { Shared } from '../../../bus/shared.ts';
import { Cursors } from './cursor.ts';

/** Interval in ms at which each pod checks that the pods still agree: the bus may have lost the secret. */
const INTERVAL_MS = 5_000;

/** The secret that cursors are signed with: a random one on which the pods agree, for as long as the bus keeps it. */
export class CursorSecret {
  readonly #bus: Pick<Shared, 'agree'>;
  #secret = randomBytes(32).toString('base64url');
  #cursors: Cursors | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(bus: Pick<Shared, 'agree'>) {
    this.#bus = bus;
  }

  /** Undefined until the bus has been reached. */
  get cursors(): Cursors | undefined {
    return this.#cursors;
  }

  /** Resolves after the first attempt, however it ended; never rejects. */
  async start(): Promise<void> {
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
