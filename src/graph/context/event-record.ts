import { topicOf } from '../../bus/channel.ts';
import { OMITTED_PARTS, parseParts } from '../../bus/carried-parts.ts';
import type { CarriedParts, PartsDemand } from '../../bus/carried-parts.ts';
import type { Change } from '../../bus/change-text.ts';
import type { Coordinates } from '../../bus/coordinates.ts';

/** The Kafka record of the event that an execution is for. It is the same for all connections, so reading it is no fact of one. */
export interface EventRecord {
  readonly topic: string;
  readonly partition: number;
  /** Exact up to 2^53. */
  readonly offset: number;
  /** In ms since 1970; negative: the record has none. */
  readonly timestamp: number;
  /**
   * null: the record has none, or it is no text.
   * @throws TypeError unless a @kafka of the topic has `record: { key: true }`, and if the message does not carry it
   */
  readonly key: string | null;
  /**
   * By name; of several headers of one name the last. null: the record has none, or it is no text.
   * @throws TypeError for a name that no @kafka of the topic has in `record: { headers: […] }`, and if the message does not carry them
   */
  readonly headers: Readonly<Record<string, string | null>>;
}

/** An event, as fields and resolvers read it. */
export interface SourceEvent {
  /** Made at the first read; undefined: the event does not come from Kafka. */
  readonly record: EventRecord | undefined;
  /** What happened to its row; undefined: its message does not say. The same for all connections, as the record is. */
  readonly change: Change | undefined;
}

/**
 * A frozen record of a message that a worker published, for all executions of its event.
 * @param demandOf what the messages of a topic carry
 */
export function eventRecord(
  channel: string,
  prefix: string,
  coordinates: Coordinates,
  demandOf: (topic: string) => PartsDemand | undefined,
): EventRecord {
  const topic = topicOf(channel, prefix);
  return new MessageRecord(topic, coordinates, demandOf(topic));
}

const TOO_LARGE = 'they exceed 3,000 bytes; crier_record_parts_omitted_total counts such records';
const TOO_OLD = 'it was published before the graph declared them';

class MessageRecord implements EventRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly #text: string | undefined;
  readonly #demand: PartsDemand | undefined;
  #parts: CarriedParts | undefined;
  #headers: CarriedParts['headers'] | undefined;

  constructor(topic: string, { partition, offset, timestamp, record }: Coordinates, demand: PartsDemand | undefined) {
    this.topic = topic;
    this.partition = partition;
    this.offset = offset;
    this.timestamp = timestamp;
    this.#text = record;
    this.#demand = demand;
    Object.freeze(this);
  }

  get key(): string | null {
    if (this.#demand?.key !== true) throw undeclared('key', '{ key: true }', this.topic);
    const { key } = this.#carried();
    return key === undefined ? this.#refuse(TOO_OLD) : key;
  }

  get headers(): CarriedParts['headers'] {
    return (this.#headers ??= this.#declaredHeaders());
  }

  #declaredHeaders(): CarriedParts['headers'] {
    const names = this.#demand?.headers ?? [];
    const target: CarriedParts['headers'] = Object.freeze(names.length > 0 ? this.#carried().headers : {});
    return new Proxy(target, {
      get: (headers, name) => {
        if (typeof name === 'symbol') return undefined;
        if (names.includes(name)) return headers[name] ?? (name in headers ? null : this.#refuse(TOO_OLD));
        // Whoever prints or awaits an object reads these.
        if (name === 'toJSON' || name === 'then' || name in Object.prototype) return undefined;
        throw undeclared(`headers[${JSON.stringify(name)}]`, `{ headers: [${JSON.stringify(name)}] }`, this.topic);
      },
    });
  }

  #carried(): CarriedParts {
    const text = this.#text;
    const parts = (this.#parts ??= text === undefined ? undefined : parseParts(text));
    if (parts && !parts.isOmitted) return parts;
    return this.#refuse(parts || text === OMITTED_PARTS ? TOO_LARGE : TOO_OLD);
  }

  #refuse(reason: string): never {
    const { topic, partition, offset } = this;
    throw new TypeError(`the key and headers of the record ${topic}/${partition}@${offset} did not travel: ${reason}`);
  }
}

function undeclared(part: string, declaration: string, topic: string): TypeError {
  return new TypeError(
    `context.record.${part} did not travel; declare it with record: ${declaration} in a @kafka of the topic ${topic}`,
  );
}
