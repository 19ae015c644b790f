import { randomUUID } from 'node:crypto';
import type { Shared } from '../bus/shared.ts';
import type { Config } from '../config/config.ts';
import { BusUnavailableError, SetupError } from '../base/errors.ts';
import { Periodic } from '../kafka/periodic.ts';

/** Name of the lock on the bus. */
export const GROUP_LOCK = 'group';
const INTERVAL_MS = 5000;
/** After the last worker has crashed. A worker that ends gives the lock up. */
const TTL_MS = 30_000;

export interface GroupLockOptions {
  readonly bus: Pick<Shared, 'lock' | 'unlock'>;
  readonly config: Pick<Config, 'CHANNEL_PREFIX' | 'names'>;
  /** Called once, if another group claimed the channels earlier. */
  readonly onRefused: (error: SetupError) => void;
}

/**
 * One consumer group for the channels of a CHANNEL_PREFIX: the workers of a second one would take the leases of the first, and be fenced by
 * it, without end. The group that claimed the channels first keeps them, also after Redis has lost its data.
 */
export class GroupLock {
  readonly #options: GroupLockOptions;
  readonly #periodic: Periodic;
  readonly #process = randomUUID();
  /** The last request, which may be under way. */
  #taking: Promise<unknown> | undefined;
  #groupId = '';
  #since: number | undefined;
  #isRefused = false;
  #isClosed = false;

  constructor(options: GroupLockOptions) {
    this.#options = options;
    this.#periodic = new Periodic(INTERVAL_MS, () => this.take().catch(() => undefined));
  }

  /** The group that holds the lock; '' before the start. */
  get groupId(): string {
    return this.#groupId;
  }

  /** Identifies the channels that the group has locked: on another Redis, and with another prefix, the lock has another time. */
  get channelsId(): string | undefined {
    return this.#since?.toString();
  }

  /**
   * Locks the channels for the group, from now on until `close`. A bus that is away does not keep a worker from starting: it locks them before it
   * publishes.
   * @throws SetupError if another group has locked them
   */
  async start(groupId: string): Promise<void> {
    this.#groupId = groupId;
    await this.#take().catch((error: unknown) => {
      if (error instanceof BusUnavailableError) return;
      this.#isRefused = true;
      throw error;
    });
    this.#periodic.start();
  }

  /** Before each lease: after a loss of Redis's data the first lease locks the channels again. @throws SetupError, BusUnavailableError */
  async take(): Promise<void> {
    try {
      await this.#take();
    } catch (error) {
      if (error instanceof SetupError && !this.#isRefused) {
        this.#isRefused = true;
        this.#options.onRefused(error);
      }
      throw error;
    }
  }

  async #take(): Promise<void> {
    const { bus, config } = this.#options;
    if (this.#isClosed) throw new BusUnavailableError('the worker has given up the lock of its channels');
    const holder = this.#groupId;
    const taking = bus.lock(GROUP_LOCK, { holder, process: this.#process, since: this.#since, ttlMs: TTL_MS });
    this.#taking = taking;
    const lock = await taking;
    if (lock.holder !== holder) throw refusal(holder, lock.holder, config);
    this.#since = lock.since;
  }

  /** Gives the lock up: the last worker of the group frees the channels. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#periodic.close();
    if (this.#isRefused) return;
    // Redis may run it after a request that is repeated with the text of the script.
    await this.#taking?.catch(() => undefined);
    if (this.#since === undefined) return;
    const request = { holder: this.#groupId, process: this.#process, since: this.#since };
    await this.#options.bus.unlock(GROUP_LOCK, request).catch(() => undefined);
  }
}

function refusal(own: string, other: string, { CHANNEL_PREFIX, names }: GroupLockOptions['config']): SetupError {
  const [ownName, otherName, prefixText] = [own, other, CHANNEL_PREFIX].map((text) => JSON.stringify(text));
  return new SetupError(
    `${names.KAFKA_GROUP_ID}: the group ${ownName} may not publish with ${names.CHANNEL_PREFIX}=${prefixText}, because the group ${otherName} does so on this Redis, ` +
      `and the two would fence each other: give these pods another ${names.CHANNEL_PREFIX}, set ${names.KAFKA_GROUP_ID}=${other}, or stop the workers of ${otherName}; ` +
      `after a crash their lock expires within ${TTL_MS / 1000} s`,
  );
}
