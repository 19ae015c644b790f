import type { DecoderOptions, PayloadPlace, SchemaFields } from './decoder.ts';
import { valuePlace } from './envelopes/envelope.ts';
import { envelopeOf } from './envelopes/envelopes.ts';
import type { NamedEnvelope } from './envelopes/envelopes.ts';
import type { SchemaRegistry } from './schema-registry.ts';
import type { Compilers } from './topic-decoders.ts';

/** What the fields of a graph read at one place of a topic's payloads, with the keys that they read there. */
export interface ReadPlace extends PayloadPlace {
  readonly keys: readonly string[];
  at(key: string): ReadPlace;
}

/** Paths in the payload. */
export interface SchemaDifference {
  /** Read by the graph, and never written with this schema. */
  readonly missing: readonly string[];
  /** Written with this schema, and read by no field of the graph. */
  readonly unread: readonly string[];
  /** True: records may have what is missing, all the same. */
  readonly mayHaveOthers?: boolean;
}

export interface ComparedTopic {
  readonly topic: string;
  /** Said by the graph. */
  readonly subject?: string | undefined;
  /** undefined: a record is the payload itself. */
  readonly envelope?: NamedEnvelope | undefined;
  readonly shape: ReadPlace;
  /** Paths that choose the channels. */
  readonly paths: readonly (readonly string[])[];
}

/** Types and schemas may contain themselves, and each other in many ways. */
const MAX_DEPTH = 8;
const MAX_PLACES = 10_000;

/** A pair of places that encloses the compared one. If the pair comes again, both the type of the graph and the schema contain themselves. */
interface Compared {
  readonly reads: ReadPlace;
  /** Of the schema. */
  readonly keys: string;
}

/** Compares what a graph reads with what producers write. Nothing below a custom scalar is compared: its value passes as it is. */
export function compareFields(read: ReadPlace, written: SchemaFields | undefined): SchemaDifference {
  const missing: string[] = [];
  const unread: string[] = [];
  let places = 0;
  const visit = (
    reads: ReadPlace,
    writes: SchemaFields | undefined,
    path: readonly string[],
    above: readonly Compared[],
  ) => {
    // Any key is possible in a map.
    if (path.length === MAX_DEPTH || reads.kinds.has('custom') || (writes && !writes.keys)) return;
    const keys = writes?.keys ?? [];
    const text = keys.join();
    if (++places > MAX_PLACES || above.some((one) => one.reads === reads && one.keys === text)) return;
    // A place of which nothing is read is named itself.
    if (reads.keys.length > 0)
      unread.push(...keys.filter((key) => !reads.keys.includes(key)).map((key) => [...path, key].join('.')));
    for (const key of reads.keys) {
      if (keys.includes(key)) visit(reads.at(key), writes?.at(key), [...path, key], [...above, { reads, keys: text }]);
      else missing.push([...path, key].join('.'));
    }
  };
  visit(read, written, [], []);
  return { missing, unread };
}

/**
 * Compares what a graph reads of a topic with the newest schema of the topic's values. undefined: the registry has none.
 * @throws SchemaUnavailableError, and an Error that says why the schema cannot be used
 */
export async function compareWithNewest(
  compared: ComparedTopic,
  registry: Pick<SchemaRegistry, 'latest'>,
  compilers: Compilers,
  options: DecoderOptions,
): Promise<SchemaDifference | undefined> {
  const schema = await registry.latest(subjectOf(compared));
  if (!schema) return undefined;
  const compile = await compilers[schema.type]();
  const envelope = compared.envelope && envelopeOf(compared.envelope);
  const shape = envelope ? valuePlace(envelope, options.shape) : options.shape;
  const { fields, mayHaveOthers } = compile(schema.text, schema.references, { ...options, shape });
  // The last member is the row as it is now.
  const [member] = envelope?.rowMembers?.slice(-1) ?? [];
  const rows = member === undefined ? fields : fields.at(member);
  const { missing, unread } = compareFields(withPaths(compared.shape, compared.paths), rows);
  // Debezium adds such columns, which the envelope reads.
  return {
    missing,
    unread: envelope ? unread.filter((path) => !path.startsWith('__')) : unread,
    ...(mayHaveOthers && { mayHaveOthers }),
  };
}

/** False: the rows are texts in the records, or the envelope is one of the graph's, so a schema does not say what they have. */
export function describesRows({ envelope }: Pick<ComparedTopic, 'envelope'>): boolean {
  if (!envelope) return true;
  return envelope.read === undefined && envelope.name !== 'MONGODB' && envelope.name !== 'OUTBOX';
}

/** Where producers register the schema of a topic's values: that of TopicNameStrategy, unless the graph says another. */
export function subjectOf({ topic, subject }: Pick<ComparedTopic, 'topic' | 'subject'>): string {
  return subject ?? `${topic}-value`;
}

/** A place, with paths that are read beside what fields read. */
function withPaths(place: ReadPlace, paths: readonly (readonly string[])[]): ReadPlace {
  const firsts = paths.flatMap(([first]) => first ?? []);
  if (firsts.length === 0) return place;
  return {
    kinds: place.kinds,
    keys: [...new Set([...place.keys, ...firsts])],
    at: (key) =>
      withPaths(
        place.at(key),
        paths.filter(([first]) => first === key).map((path) => path.slice(1)),
      ),
  };
}
