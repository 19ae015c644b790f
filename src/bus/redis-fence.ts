import { randomUUID } from 'node:crypto';
import { FencedError } from '../errors.ts';
import type { Claim, Message, Position } from './bus.ts';
import type { RedisLink } from './redis-link.ts';
import { runScript, scriptOf } from './redis-script.ts';
import { CLAIM_SCRIPT, PUBLISH_SCRIPT } from './redis-scripts.ts';

/** What we hold of a partition on this server. */
interface Holding {
  readonly token: string;
  readonly epoch: number;
  /** The last one that the server knew then; '': none. */
  readonly start: string;
  /** Offset up to which the server has accepted everything. */
  position: number;
}

/**
 * Publishes for partitions that were claimed on one Redis, and for no other: a worker that was frozen while another took its
 * partitions over is refused. Also refuses to go on in a Redis that has lost its data. Holds one entry for each partition
 * that this process has claimed.
 */
export class RedisFence {
  readonly #link: RedisLink;
  readonly #ownersKey: string;
  readonly #holdings = new Map<string, Holding>();

  constructor(link: RedisLink, prefix: string) {
    this.#link = link;
    this.#ownersKey = `${prefix}owners`;
  }

  /** @throws BusUnavailableError */
  async claim({ topic, partition, position, start }: Claim): Promise<void> {
    const key = `${topic}/${partition}`;
    const before = this.#holdings.get(key);
    const token = randomUUID();
    const { epoch, position: accepted, start: acceptedAfter } = before ?? { epoch: 0, position: -1, start: '' };
    const args = [topic, partition, token, epoch, position, start ?? '', Date.now(), accepted, acceptedAfter];
    const reply = (await runScript(this.#link, CLAIM, [this.#ownersKey], args)) as [Buffer, Buffer, Buffer];
    this.#holdings.set(key, { token, epoch: Number(reply[0]), position: Number(reply[1]), start: String(reply[2]) });
  }

  /**
   * All messages in one step, or none.
   * @throws BusUnavailableError or FencedError, as `Bus.publish`
   */
  async publish(messages: readonly Message[], { topic, partition, offset }: Position): Promise<void> {
    const holding = this.#holdings.get(`${topic}/${partition}`);
    if (!holding) throw new FencedError(`${topic}/${partition} was not claimed`);
    const args: (string | number)[] = [topic, partition, holding.token, offset, holding.position];
    let payload: string | undefined;
    for (const message of messages) {
      // Those of one record share one text.
      const isRepeated = message.payload === payload;
      payload = message.payload;
      const { channel, offset: at = 0, timestamp = 0, history } = message;
      args.push(channel, at, timestamp, isRepeated ? '' : payload);
      args.push(history?.entries ?? 0, history?.bytes ?? 0, history?.seconds ?? 0);
    }
    const isAccepted = await runScript(this.#link, PUBLISH, [this.#ownersKey], args);
    if (isAccepted !== 1) {
      throw new FencedError(`${topic}/${partition} was claimed by another, or Redis at ${this.#link.label} lost data`);
    }
    holding.position = Math.max(holding.position, offset);
  }
}

const CLAIM = scriptOf(CLAIM_SCRIPT);
const PUBLISH = scriptOf(PUBLISH_SCRIPT);
