import { randomUUID } from 'node:crypto';
import { FencedError } from '../errors.ts';
import type { Claim, Message, Position } from './bus.ts';
import type { HistoryLimits } from './history.ts';
import type { RedisLink } from './redis-link.ts';
import { CommandWriter, WrittenCommand } from './redis-command.ts';
import { runScript, scriptOf, sendScript } from './redis-script.ts';
import { CLAIM_SCRIPT, PUBLISH_SCRIPT } from './redis-scripts.ts';

/** A writer that has grown larger is not kept: a chunk is 1 MiB of text and, with its last record, seldom more than 2. */
const MAX_WRITER_BYTES = 4 * 1024 * 1024;

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
  /** At rest; never more than there were publishes at a time. */
  readonly #writers: CommandWriter[] = [];

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
    const writer = this.#writers.pop() ?? new CommandWriter();
    const beginning = [this.#ownersKey, topic, `${partition}`, holding.token, `${offset}`, `${holding.position}`];
    const isAccepted = await sendScript(this.#link, PUBLISH, (command, script) => {
      write(writer, [command, script, '1', ...beginning], messages);
      return this.#link.client.sendCommand(new WrittenCommand(command, writer.bytes));
    });
    // Only with the reply all of it has surely left; with a link that is lost, some of it may wait to be written for ever.
    if (writer.size <= MAX_WRITER_BYTES) this.#writers.push(writer);
    if (isAccepted !== 1) {
      throw new FencedError(`${topic}/${partition} was claimed by another, or Redis at ${this.#link.label} lost data`);
    }
    holding.position = Math.max(holding.position, offset);
  }
}

const CLAIM = scriptOf(CLAIM_SCRIPT);
const PUBLISH = scriptOf(PUBLISH_SCRIPT);

/** Puts PUBLISH_SCRIPT's command together. */
function write(writer: CommandWriter, beginning: readonly string[], messages: readonly Message[]): void {
  let least = Number.MAX_SAFE_INTEGER;
  let triples = 0;
  let limits: HistoryLimits | undefined;
  for (const { offset = 0, history } of messages) {
    least = Math.min(least, offset);
    triples += history === limits ? 1 : 2;
    limits = history;
  }
  writer.begin(beginning.length + 1 + triples * 3);
  for (const text of beginning) writer.text(text);
  writer.text(`${least}`);
  limits = undefined;
  let payload: string | undefined;
  for (const { channel, offset = 0, timestamp = 0, payload: own, history } of messages) {
    if (history !== limits) {
      writer.text('');
      writer.text(history ? `${history.entries} ${history.bytes} ${history.seconds}` : '0 0 0');
      writer.text('');
      limits = history;
    }
    writer.text(channel);
    writer.pair(offset, timestamp);
    // Those of one record share one text.
    writer.text(own === payload ? '' : own);
    payload = own;
  }
}
