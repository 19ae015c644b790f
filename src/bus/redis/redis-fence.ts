import { FencedError, StateLostError } from '../../base/errors.ts';
import { printTraceFields } from '../trace-fields.ts';
import type { TraceContext } from '../../base/trace-context.ts';
import { STATES_OF_KEY } from '../bus-message.ts';
import type { ChannelMessage } from '../bus-message.ts';
import type { PartitionLease, Position } from '../publisher.ts';
import { printPartsField } from '../carried-parts.ts';
import type { Retention } from '../history.ts';
import { CommandWriter, WrittenCommand } from './command-writer.ts';
import { gatherWrite } from './gathered-writes.ts';
import { fillsKey, ownersKey } from './redis-keys.ts';
import { runScript, sendScript } from './redis-scripts.ts';
import type { RedisTag } from './redis-tag.ts';

/** A writer that has grown larger is not kept: a chunk is 1 MiB of text and, with its last record, seldom more than 2. */
const MAX_WRITER_BYTES = 4 * 1024 * 1024;

/** The lease of a partition for this tag. */
interface Holding {
  readonly token: string;
  readonly epoch: number;
  /** The last start id that the server knew when the lease was acquired; '': none. */
  readonly startId: string;
  /** Offset up to which Redis has accepted all records; in a cluster, those with a channel of this tag. */
  position: number;
  /** True if the worker keeps states of the partition's channels. */
  readonly keepsStates: boolean;
}

export interface Accepted {
  /** Bytes of payloads that at least one subscriber received. */
  readonly received: number;
  /** In a cluster: messages whose records may have left channels of other tags. */
  readonly moved: readonly ChannelMessage[];
}

/** A mark of flow control that follows a publish: the channel of marks, bytes before the publish, and `?` for a question. */
export type PrintedMark = readonly [channel: string, bytes: string, question: string];

/**
 * Publishes to the channels of one tag, only for the partitions that this process has leased for it. Redis refuses a publish from a worker whose lease
 * another worker has replaced, and a publish after it has lost its data. Holds one entry for each leased partition.
 */
export class RedisFence {
  readonly #tag: RedisTag;
  readonly #ownersKey: string;
  readonly #fillsKey: string;
  readonly #holdings = new Map<string, Holding>();
  /** Idle writers; at most as many as there were concurrent publishes. */
  readonly #writers: CommandWriter[] = [];

  constructor(tag: RedisTag) {
    this.#tag = tag;
    this.#ownersKey = ownersKey(tag.prefix);
    this.#fillsKey = fillsKey(tag.prefix);
  }

  /** @throws BusUnavailableError, StateLostError */
  async acquire({ topic, partition, position, startId, signature }: PartitionLease, token: string): Promise<void> {
    const key = `${topic}/${partition}`;
    const before = this.#holdings.get(key);
    const { publisher, scripts } = this.#tag;
    const { epoch, position: accepted, startId: acceptedAfter } = before ?? { epoch: 0, position: -1, startId: '' };
    const args = [topic, partition, token, epoch, position, startId ?? '', Date.now(), accepted, acceptedAfter];
    const keys = signature === undefined ? [this.#ownersKey] : [this.#ownersKey, this.#fillsKey];
    const reply = (await runScript(publisher, scripts.lease, keys, args)) as [Buffer, Buffer, Buffer, Buffer?];
    if (signature !== undefined && String(reply[3]) !== signature) {
      throw new StateLostError(`Redis at ${publisher.label} does not have the states of ${key}`);
    }
    this.#holdings.set(key, {
      token,
      epoch: Number(reply[0]),
      position: Number(reply[1]),
      startId: String(reply[2]),
      keepsStates: signature !== undefined,
    });
  }

  /**
   * The fill of a leased partition has read its last record.
   * @throws BusUnavailableError, FencedError
   */
  async endFill(topic: string, partition: number, signature: string): Promise<void> {
    const token = this.#holdings.get(`${topic}/${partition}`)?.token ?? '';
    const keys = [this.#ownersKey, this.#fillsKey];
    const { publisher, scripts } = this.#tag;
    const reply = await runScript(publisher, scripts.filled, keys, [topic, partition, token, signature]);
    if (reply === -1) throw new FencedError(`${topic}/${partition} is not leased at ${publisher.label}`);
  }

  /** Of the last lease of the partition; undefined: there was none. */
  tokenOf(topic: string, partition: number): string | undefined {
    return this.#holdings.get(`${topic}/${partition}`)?.token;
  }

  /**
   * Offset up to which Redis has accepted all records of a leased partition; -1: nothing is known.
   * @param startId of the records; undefined: that of the last lease here
   */
  positionOf(topic: string, partition: number, startId: string | undefined): number {
    const holding = this.#holdings.get(`${topic}/${partition}`);
    return holding && (startId === undefined || holding.startId === startId) ? holding.position : -1;
  }

  /**
   * Publishes all messages atomically, or none.
   * @throws BusUnavailableError or FencedError, like `Publisher.publish`
   */
  async publish(
    messages: readonly ChannelMessage[],
    { topic, partition, offset }: Position,
    mark: PrintedMark = NO_MARK,
  ): Promise<Accepted> {
    const holding = this.#holdings.get(`${topic}/${partition}`);
    if (!holding) throw new FencedError(`${topic}/${partition} was not leased`);
    const writer = this.#writers.pop() ?? new CommandWriter();
    const keys = holding.keepsStates ? ['2', this.#ownersKey, this.#fillsKey] : ['1', this.#ownersKey];
    const beginning = [...keys, topic, `${partition}`, holding.token, `${offset}`, `${holding.position}`];
    const { publisher, scripts, name } = this.#tag;
    const reply = await sendScript(publisher, scripts.publish, (command, script) => {
      write(writer, [command, script, ...beginning], mark, name, messages);
      gatherWrite(publisher.client.stream, writer.bytes.length);
      return publisher.client.sendCommand(new WrittenCommand(command, writer.bytes));
    });
    // The reply proves that all of the writer's bytes were sent. Without a reply, a lost link may still refer to them.
    if (writer.size <= MAX_WRITER_BYTES) this.#writers.push(writer);
    if (reply === -1) {
      throw new FencedError(
        `${topic}/${partition} was leased by another worker, or Redis at ${publisher.label} lost data`,
      );
    }
    holding.position = Math.max(holding.position, offset);
    if (!Array.isArray(reply)) return { received: Number(reply), moved: [] };
    const [received, ...numbers] = reply as [number, ...number[]];
    return { received, moved: numbers.map((number) => messages[number - 1]!) };
  }
}

const NO_MARK: PrintedMark = ['', '0', ''];

function printRetention({ entries, bytes, seconds, stateSeconds }: Retention): string {
  return `${entries} ${bytes} ${seconds} ${stateSeconds ?? '-'}`;
}

function printFields({ trace, record }: ChannelMessage): string {
  return (trace ? printTraceFields(trace) : '') + (record === undefined ? '' : printPartsField(record));
}

/**
 * Writes the command that runs `lua/publish.lua`.
 * @param tag begins the name of each channel and index in Redis
 */
function write(
  writer: CommandWriter,
  beginning: readonly string[],
  mark: PrintedMark,
  tag: string,
  messages: readonly ChannelMessage[],
): void {
  let least = Number.MAX_SAFE_INTEGER;
  let triples = 0;
  let limits: Retention | undefined;
  let context: TraceContext | undefined;
  let parts: string | undefined;
  let key: string | undefined;
  for (const { offset, history, trace, record, keyHash } of messages) {
    least = Math.min(least, offset);
    triples += history === limits ? 1 : 2;
    limits = history;
    if (trace !== context || record !== parts) triples++;
    if (keyHash !== key) triples++;
    context = trace;
    parts = record;
    key = keyHash;
  }
  writer.begin(beginning.length + 1 + mark.length + triples * 3);
  for (const text of beginning) writer.text(text);
  writer.text(`${least}`);
  for (const text of mark) writer.text(text);
  limits = undefined;
  context = undefined;
  parts = undefined;
  key = undefined;
  let payload: string | Buffer | undefined;
  for (const message of messages) {
    const { channel, offset, timestamp, payload: own, history, trace, record, keyHash, isDeparture } = message;
    if (history !== limits) {
      writer.text('');
      writer.text(history ? printRetention(history) : '0 0 0 -');
      writer.text(history?.keyIndex === undefined ? '' : tag + history.keyIndex);
      limits = history;
    }
    if (keyHash !== key) {
      writer.text('');
      writer.text('.');
      writer.text(keyHash ?? '');
      key = keyHash;
    }
    if (trace !== context || record !== parts) {
      writer.text('');
      writer.text('');
      writer.text(printFields(message));
      context = trace;
      parts = record;
    }
    writer.text(tag === '' || channel === STATES_OF_KEY ? channel : tag + channel);
    if (isDeparture && channel !== STATES_OF_KEY) writer.text(`${offset} ${timestamp} -`);
    else writer.pair(offset, timestamp);
    // The messages of one record share one payload: it is written once.
    if (own === payload) writer.text('');
    else if (typeof own === 'string') writer.text(own);
    else writer.buffer(own);
    payload = own;
  }
}
