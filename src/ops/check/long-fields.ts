import { getNamedType, isObjectType } from 'graphql';
import type { GraphQLOutputType } from 'graphql';
import { hasResolver } from '../../graph/execution/executable.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import type { TopicReads } from '../../graph/schema/topic-reads.ts';
import { UNREAD } from '../../kafka/decoding/decoder.ts';
import { describeSchema } from '../../kafka/decoding/describers.ts';
import type { RecognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import { rowType } from '../../kafka/decoding/envelopes/row-type.ts';
import { subjectOf } from '../../kafka/decoding/schema-comparison.ts';
import { SchemaPlace } from '../../kafka/decoding/schema-place.ts';
import type { SchemaRegistry } from '../../kafka/decoding/schema-registry.ts';
import type { ValueType } from '../../kafka/decoding/value-type.ts';

/** Coordinates of Int fields where the newest schema of a topic's values has integers of 64 bits, each once. */
export async function longFields(
  reads: TopicReads,
  { schema, bindings }: Pick<Graph, 'schema' | 'bindings'>,
  registry: Pick<SchemaRegistry, 'latest'>,
): Promise<readonly string[]> {
  const newest = await registry.latest(subjectOf(reads));
  if (!newest) return [];
  const { nameOf, envelope, topic } = reads;
  const namesOf = (names: readonly string[]) => SchemaPlace.root({ shape: UNREAD, nameOf }).namesOf(names);
  const rows = rowType(await describeSchema(newest, namesOf), envelope?.name as RecognisedEnvelope | undefined);
  const found = new LongFields();
  for (const { field, topics, payload } of bindings.values()) {
    const value = topics.includes(topic) ? payload.reduce(memberOf, rows) : undefined;
    const definition = schema.getSubscriptionType()?.getFields()[field];
    if (value && definition) found.visit(`Subscription.${field}`, definition.type, value);
  }
  return [...found.coordinates];
}

class LongFields {
  readonly coordinates = new Set<string>();
  /** Types and schemas may contain themselves. */
  readonly #seen = new Map<unknown, Set<unknown>>();

  visit(coordinate: string, type: GraphQLOutputType, value: ValueType): void {
    const named = getNamedType(type);
    if (value.kind === 'long' && named.name === 'Int') this.coordinates.add(coordinate);
    if (value.items) this.visit(coordinate, type, value.items);
    const { object } = value;
    if (!object || !isObjectType(named) || this.#isSeen(named, object)) return;
    for (const field of Object.values(named.getFields())) {
      const member = hasResolver(field) ? undefined : memberOf(value, field.name);
      if (member) this.visit(`${named.name}.${field.name}`, field.type, member);
    }
  }

  #isSeen(type: unknown, object: unknown): boolean {
    const objects = this.#seen.get(type) ?? new Set();
    this.#seen.set(type, objects);
    if (objects.has(object)) return true;
    objects.add(object);
    return false;
  }
}

function memberOf(value: ValueType | undefined, name: string): ValueType | undefined {
  return value?.object?.fields.find((field) => field.name === name)?.type;
}
