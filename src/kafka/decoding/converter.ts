import type { PathValues } from '../../bus/channel.ts';
import type { Conversion, Destination } from '../batch.ts';
import { Places } from './key-tree.ts';
import { decodeRecord } from './record.ts';
import type { RecordLimits } from './record.ts';
import { Rewriter } from './key-rewriter.ts';
import type { SnakeCase } from './snake-case.ts';

/** Which channels the records of a topic belong to. */
export interface TopicRoutes {
  /** Whose values decide. */
  readonly paths: readonly (readonly string[])[];
  /** From this index on objects and lists are values, too: the empty text. */
  readonly firstPresence: number;
  /** A payload's values there. */
  valuesIn(payload: unknown): PathValues;
  /** Counts a record by whether its values fit. */
  count(values: PathValues): void;
  /** Each channel once. */
  channels(values: PathValues): readonly Destination[];
}

/**
 * Records: two after the first that could not be rewritten, and about twice as many after each further one. Never an odd number: where every
 * other record is such a one, all tries would meet it.
 */
const MAX_PAUSE = 62;

/** What is known of a topic. */
interface Topic {
  readonly routes: TopicRoutes;
  readonly places: Places;
  /** Records that are parsed at once before rewriting is tried again. */
  pause: number;
  /** How many of them are still to come. */
  pausing: number;
}

const NOWHERE: Conversion = { payload: '', destinations: [] };

/**
 * Makes payloads out of records. Most are rewritten; one that is not is parsed, renamed and printed, which comes to the same
 * text and channels, finds out what is wrong with a record, and counts what SnakeCase drops. Where many in a row cannot be
 * rewritten, it is tried with few, so that it costs them next to nothing.
 */
export class Converter {
  readonly #limits: RecordLimits;
  readonly #snakeCase: SnakeCase;
  readonly #rewriter: Rewriter;
  readonly #topics: ReadonlyMap<string, Topic>;

  /** `routes`: by topic; records of others go nowhere. */
  constructor(routes: ReadonlyMap<string, TopicRoutes>, limits: RecordLimits, snakeCase: SnakeCase) {
    this.#limits = limits;
    this.#snakeCase = snakeCase;
    this.#rewriter = new Rewriter(limits);
    this.#topics = new Map(
      [...routes].map(([name, of]) => [
        name,
        { routes: of, places: new Places(of.paths, of.firstPresence), pause: 0, pausing: 0 },
      ]),
    );
  }

  convert(topic: string, record: Buffer | null): Conversion {
    const known = this.#topics.get(topic);
    return (known && record && this.#rewritten(known, record)) ?? this.#parsed(known, record);
  }

  #rewritten(topic: Topic, record: Buffer): Conversion | undefined {
    if (topic.pausing > 0) {
      topic.pausing--;
      return undefined;
    }
    const values = this.#rewriter.rewrite(record, topic.places);
    topic.pause = values ? 0 : Math.min(topic.pause * 2 + 2, MAX_PAUSE);
    topic.pausing = topic.pause;
    if (!values) return undefined;
    topic.routes.count(values);
    const destinations = topic.routes.channels(values);
    return destinations.length === 0 ? NOWHERE : { payload: this.#rewriter.text(), destinations };
  }

  #parsed(topic: Topic | undefined, record: Buffer | null): Conversion {
    const decoded = decodeRecord(record, this.#limits);
    if (decoded.poison !== undefined) return decoded;
    const payload = this.#snakeCase.convert(decoded.payload);
    const destinations = topic ? destinationsOf(topic.routes, payload) : [];
    return destinations.length === 0 ? NOWHERE : { payload: JSON.stringify(payload), destinations };
  }
}

function destinationsOf(routes: TopicRoutes, payload: unknown): readonly Destination[] {
  const values = routes.valuesIn(payload);
  routes.count(values);
  return routes.channels(values);
}
