import { getNamedType, isAbstractType, isObjectType } from 'graphql';
import type { GraphQLField, GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { snakeCaseName } from '../../base/json/key-naming.ts';
import type { KeyNaming } from '../../base/json/key-naming.ts';
import { isRecordPart, pathInKey } from '../record-parts.ts';
import type { FilterRule } from '../filter/filter-rule.ts';
import { typesOfBefore } from './change-demand.ts';
import type { Match } from './match.ts';
import { PayloadShape } from './payload-shape.ts';
import { lineOf } from './problem.ts';
import type { Where } from './claim-where.ts';

type Field = GraphQLField<unknown, unknown>;

/** What names keys in a binding (`Binding`). */
interface KeyBinding {
  readonly field: string;
  readonly topics: readonly string[];
  readonly keys?: KeyNaming;
  readonly match: readonly Match[];
  readonly where: readonly Where[];
  readonly filters?: readonly FilterRule[];
  readonly payload: readonly string[];
}

/** A binding and its field. */
export interface BoundField {
  readonly binding: KeyBinding;
  readonly field: Field;
  /** Where it is, for problems: `schema.graphql:3: Subscription.order_updated`. */
  readonly location: string;
}

/**
 * Checks the names in the payloads of each topic: that its fields agree on `keys`, and that paths and fields name keys that payloads can
 * have.
 *
 * @param schema with the graph's resolvers attached, and no others
 * @returns by topic, what fields read at each place of its payloads
 */
export function checkTopicKeys(
  schema: GraphQLSchema,
  bound: readonly BoundField[],
  problems: string[],
): ReadonlyMap<string, PayloadShape> {
  const topics = new Map<string, BoundField[]>();
  for (const one of bound) {
    for (const topic of one.binding.topics) topics.set(topic, [...(topics.get(topic) ?? []), one]);
  }
  const shapes = new Map<string, PayloadShape>();
  const found: string[] = [];
  const unreachable = new Map<Field, string>();
  for (const [topic, fields] of topics) {
    const readers = fields.filter(({ field }) => field.resolve === undefined);
    const befores = fields.flatMap(({ field }) => typesOfBefore(schema, field));
    const shape = PayloadShape.of(schema, [
      ...readers.map(({ binding, field }) => ({ payload: binding.payload, type: getNamedType(field.type) })),
      ...befores.map((type) => ({ payload: [], type })),
    ]);
    shapes.set(topic, shape);
    found.push(...disagreements(topic, fields));
    if (fields[0]!.binding.keys === 'KEEP') continue;
    found.push(...ambiguities(topic, fields[0]!.location, shape));
    found.push(...fields.flatMap((one) => misnamedPaths(one, shape)));
    for (const type of objectTypes(schema, [...readers.map(({ field }) => getNamedType(field.type)), ...befores])) {
      for (const [field, problem] of unreachableFields(type, topic)) unreachable.set(field, problem);
    }
  }
  problems.push(...new Set(found), ...unreachable.values());
  return shapes;
}

function disagreements(topic: string, [first, ...others]: readonly BoundField[]): string[] {
  if (!first) return [];
  const { field, keys } = first.binding;
  return others
    .filter(({ binding }) => binding.keys !== keys)
    .map(
      ({ binding, location }) =>
        `${location}: reads topic "${topic}" with keys: ${binding.keys}, and ${field} with keys: ${keys}; ` +
        'give all fields of a topic the same keys',
    );
}

/** Places that one field reads as an object, whose keys are converted, and another as a custom scalar, which keeps its keys. */
function ambiguities(topic: string, location: string, root: PayloadShape): string[] {
  const problems: string[] = [];
  const visited = new Set<PayloadShape>();
  const visit = (shape: PayloadShape, path: readonly string[], scalar: string | undefined) => {
    const kept = shape.kinds.has('custom') ? describe(path) : scalar;
    if (kept !== undefined && shape.kinds.has('object')) {
      problems.push(
        `${location}: fields of topic "${topic}" read ${describe(path)} as an object, and ` +
          `${kept === describe(path) ? 'also' : kept} as a custom scalar, which keeps the keys of objects; ` +
          'give these fields the same type, or add keys: KEEP to all fields of the topic',
      );
      return;
    }
    if (visited.has(shape) && kept === undefined) return;
    visited.add(shape);
    for (const key of shape.keys) visit(shape.at(key), [...path, key], kept);
  };
  visit(root, [], undefined);
  return problems;
}

function describe(path: readonly string[]): string {
  return path.length === 0 ? 'the whole payload' : `"${path.join('.')}"`;
}

/** Paths with a key that is never in snake_case. Below a custom scalar any key is possible. */
function misnamedPaths({ binding, location }: BoundField, root: PayloadShape): string[] {
  const { match, where, filters = [], payload } = binding;
  const problems: string[] = [];
  const check = (what: string, path: readonly string[], names = "the payload's keys") => {
    let shape = root;
    const converted = path.map((key) => {
      const name = shape.kinds.has('custom') ? key : snakeCaseName(key);
      shape = shape.at(key);
      return name;
    });
    if (converted.every((key, index) => key === path[index])) return;
    problems.push(
      `${location}: ${what} "${path.join('.')}" can never match, because ${names} are snake_case; ` +
        `write "${converted.join('.')}", or add keys: KEEP to @kafka`,
    );
  };
  for (const { arg, path } of match) {
    const inKey = pathInKey(path);
    if (inKey !== undefined) check(`match of "${arg}": key`, inKey.split('.'), 'the names in a decoded key');
    else if (!isRecordPart(path)) check(`match of "${arg}": path`, path.split('.'));
  }
  for (const { arg, path } of filters) check(`where of "${arg}": path`, path.split('.'));
  for (const { claim, path } of where) check(`where of "${claim}": path`, path.split('.'));
  check('payload', payload);
  return problems;
}

/** The problems of fields that read a key that is never in snake_case. */
function unreachableFields(type: GraphQLObjectType, topic: string): [Field, string][] {
  return fieldsInPayload(type).flatMap((field): [Field, string][] => {
    const name = snakeCaseName(field.name);
    if (name === field.name) return [];
    const fix = Object.hasOwn(type.getFields(), name) ? `remove it, as there is "${name}"` : `rename it to "${name}"`;
    const problem =
      `${lineOf(field.astNode)}${type.name}.${field.name}: would always be null, because crier converts the keys of records to snake_case; ` +
      `${fix}, or keep the keys as they are: write @kafka(topic: "${topic}", …, keys: KEEP) at each field of that topic; or give the field a resolver`;
    return [[field, problem]];
  });
}

/** The object types of values in the payload. */
function objectTypes(schema: GraphQLSchema, read: readonly GraphQLNamedType[]): readonly GraphQLObjectType[] {
  const types = new Set(read);
  for (const type of types) {
    if (isAbstractType(type)) for (const possible of schema.getPossibleTypes(type)) types.add(possible);
    else if (isObjectType(type)) for (const field of fieldsInPayload(type)) types.add(getNamedType(field.type));
  }
  return [...types].filter(isObjectType);
}

function fieldsInPayload(type: GraphQLObjectType): Field[] {
  return Object.values(type.getFields()).filter(({ resolve }) => resolve === undefined);
}
