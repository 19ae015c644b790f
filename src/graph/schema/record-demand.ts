import { Kind, getNamedType, isAbstractType, isObjectType } from 'graphql';
import type { ConstValueNode, GraphQLField, GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { unionOf } from '../../bus/carried-parts.ts';
import type { PartsDemand } from '../../bus/carried-parts.ts';
import { itemsOf } from './directive-arguments.ts';
import { recordUseOf } from './record-use.ts';

const EXAMPLE = '{ key: true, headers: ["tenant"] }';

/** What a @kafka asks for: in its `record`, and by each @record on a type that its field reaches. undefined: nothing. */
export function readDemand(
  node: ConstValueNode | undefined,
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  problems: string[],
): PartsDemand | undefined {
  let demand = readRecord(node, problems);
  for (const type of typesReachedBy(schema, field)) {
    for (const each of Object.values(type.getFields())) {
      const use = recordUseOf(each);
      if (use?.part === 'KEY') demand = unionOf(demand, { key: true, headers: [] });
      if (use?.part === 'HEADER' && use.name) demand = unionOf(demand, { key: false, headers: [use.name] });
    }
  }
  return demand;
}

/** True if the results of a field may have fields with @record. */
export function hasRecordFields(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>): boolean {
  return [...typesReachedBy(schema, field)].some((type) => Object.values(type.getFields()).some(recordUseOf));
}

/** Object types that the results of a field may have in them, at any depth. */
export function typesReachedBy(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
): ReadonlySet<GraphQLObjectType> {
  const seen = new Set<GraphQLNamedType>();
  const left: GraphQLNamedType[] = [getNamedType(field.type)];
  for (let type = left.pop(); type; type = left.pop()) {
    if (seen.has(type)) continue;
    seen.add(type);
    if (isAbstractType(type)) left.push(...schema.getPossibleTypes(type));
    if (isObjectType(type)) left.push(...Object.values(type.getFields()).map((each) => getNamedType(each.type)));
  }
  return new Set([...seen].filter(isObjectType));
}

function readRecord(node: ConstValueNode | undefined, problems: string[]): PartsDemand | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  if (node.kind !== Kind.OBJECT) {
    problems.push(`record must be an object such as ${EXAMPLE}`);
    return undefined;
  }
  let key = false;
  const headers = new Set<string>();
  for (const { name, value } of node.fields) {
    if (name.value === 'key') {
      if (value.kind === Kind.BOOLEAN) key = value.value;
      else problems.push('record.key must be true or false, without quotes');
    } else if (name.value === 'headers') {
      for (const item of itemsOf(value)) {
        if (item.kind === Kind.STRING && item.value !== '') headers.add(item.value);
        else problems.push('record.headers must be names in quotes, such as ["tenant"]');
      }
    } else problems.push(`record has no "${name.value}"; use key and headers`);
  }
  if (key || headers.size > 0) return { key, headers: [...headers] };
  problems.push(`record asks for nothing; write what resolvers read, such as ${EXAMPLE}, or leave it out`);
  return undefined;
}
