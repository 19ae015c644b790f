import type { PathValues } from '../../bus/channel.ts';
import type { Conversion, Destination, RecordContent } from '../batch.ts';
import { KeyRewriter } from './key-rewriter.ts';
import { KeyTree } from './key-tree.ts';
import { decodeRecord } from './record.ts';
import type { RecordLimits } from './record.ts';
import type { SnakeCase } from './snake-case.ts';

/** Which channels the records of a topic belong to. */
export interface TopicRoutes {
  /** Paths in a payload whose values select the channels. */
  readonly paths: readonly (readonly string[])[];
  /** From this path index on an object or a list counts as a value, too: ''. */
  readonly firstPresence: number;
  /** A payload's values at `paths`. */
  valuesIn(payload: unknown): PathValues;
  /** A record's values beside its payload, which follow those of the payload; undefined: the channels depend on none. */
  readonly valuesBeside?: ((record: RecordContent) => PathValues) | undefined;
  /** Counts a record as matched or unmatched. */
  count(values: PathValues): void;
  /** Channels of a record, each once. */
  channels(values: PathValues): readonly Destination[];
}

/** Most records that are parsed before the rewriter is tried again. Even, so that alternating records cannot lock it out. */
const MAX_PAUSE = 62;

interface Topic {
  readonly routes: TopicRoutes;
  readonly keys: KeyTree;
  /** Records to parse after the last one that the rewriter declined: 2, then about twice as many each time. */
  pause: number;
  /** Records of that pause that are left. */
  pauseLeft: number;
}

const NO_CHANNEL: Conversion = { payload: '', destinations: [] };

/**
 * Converts records to payload text and channels. Most records go through the key rewriter. A record that it declines is parsed, renamed
 * and printed, with the same text and channels as its result: this also finds the reason of a poison record, and counts properties that
 * SnakeCase drops. While the rewriter declines many records in a row, it is tried with about one in 63 of them.
 */
export class Converter {
  readonly #limits: RecordLimits;
  readonly #snakeCase: SnakeCase;
  /** Undefined: every record is parsed. */
  readonly #rewriter: KeyRewriter | undefined;
  readonly #topics: ReadonlyMap<string, Topic>;

  /** `routes`: by topic. Records of other topics have no channels. */
  constructor(
    routes: ReadonlyMap<string, TopicRoutes>,
    limits: RecordLimits,
    snakeCase: SnakeCase,
    { hasRewriter = true }: { readonly hasRewriter?: boolean } = {},
  ) {
    this.#limits = limits;
    this.#snakeCase = snakeCase;
    this.#rewriter = hasRewriter ? new KeyRewriter(limits) : undefined;
    this.#topics = new Map(
      [...routes].map(([name, of]) => [
        name,
        { routes: of, keys: new KeyTree(of.paths, of.firstPresence), pause: 0, pauseLeft: 0 },
      ]),
    );
  }

  convert(record: RecordContent): Conversion {
    const bound = this.#topics.get(record.topic);
    const rewriter = this.#rewriter;
    return (
      (rewriter && bound && record.value && rewrite(rewriter, bound, record, record.value)) ??
      this.#parse(bound, record)
    );
  }

  #parse(topic: Topic | undefined, record: RecordContent): Conversion {
    const decoded = decodeRecord(record.value, this.#limits);
    if (decoded.poison !== undefined) return decoded;
    const payload = this.#snakeCase.convertObjToSnakeKeys(decoded.payload);
    const destinations = topic ? destinationsOf(topic.routes, record, topic.routes.valuesIn(payload)) : [];
    return destinations.length === 0 ? NO_CHANNEL : { payload: JSON.stringify(payload), destinations };
  }
}

/** Undefined: the rewriter pauses, or declined the record. */
function rewrite(rewriter: KeyRewriter, topic: Topic, record: RecordContent, value: Buffer): Conversion | undefined {
  if (topic.pauseLeft > 0) {
    topic.pauseLeft--;
    return undefined;
  }
  const values = rewriter.rewrite(value, topic.keys);
  topic.pause = values ? 0 : Math.min(topic.pause * 2 + 2, MAX_PAUSE);
  topic.pauseLeft = topic.pause;
  if (!values) return undefined;
  const destinations = destinationsOf(topic.routes, record, values);
  return destinations.length === 0 ? NO_CHANNEL : { payload: rewriter.text(), destinations };
}

/** @param ofPayload the values of the record's payload */
function destinationsOf(routes: TopicRoutes, record: RecordContent, ofPayload: PathValues): readonly Destination[] {
  const values = routes.valuesBeside ? [...ofPayload, ...routes.valuesBeside(record)] : ofPayload;
  routes.count(values);
  return routes.channels(values);
}
