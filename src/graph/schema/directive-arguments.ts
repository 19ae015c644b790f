import { Kind } from 'graphql';
import type { ConstValueNode, GraphQLEnumType, GraphQLSchema } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { isPath } from './payload-path.ts';

/** Reads `shared` of a directive that feeds a field. */
export function readShared(node: ConstValueNode | undefined, problems: string[]): boolean {
  if (!node) return true;
  if (node.kind === Kind.BOOLEAN) return node.value;
  problems.push('shared must be true or false, without quotes; left out, it is true');
  return true;
}

/** Reads `payload` of a directive that feeds a field; [] is the whole payload. */
export function readPayload(node: ConstValueNode | undefined, problems: string[]): string[] | undefined {
  if (!node || node.kind === Kind.NULL) return [];
  if (node.kind !== Kind.STRING) problems.push('payload must be a path in quotes, such as "auction"');
  else if (node.value === '') problems.push('payload is empty; leave it out to take the whole payload');
  else if (isPath(node.value, 'payload', problems)) return node.value.split('.');
  return undefined;
}

/** `; write arg: "id"`, for the first member that lacks its quotes; '' where none does. @param names of members that are texts */
export function quotesHint(members: ReadonlyMap<string, ConstValueNode>, names: readonly string[]): string {
  for (const name of names) {
    const node = members.get(name);
    if (node?.kind === Kind.ENUM) return `; write ${name}: "${node.value}"`;
  }
  return '';
}

/** The items of a list. The SDL coerces one item to a list of it. */
export function itemsOf(node: ConstValueNode | undefined): readonly ConstValueNode[] {
  if (!node || node.kind === Kind.NULL) return [];
  return node.kind === Kind.LIST ? node.values : [node];
}

/** Reads an argument of @kafka that is a value of an enum of crier's. undefined: it is absent, or there is a problem. */
export function readEnum(
  name: string,
  enumName: string,
  node: ConstValueNode | undefined,
  schema: GraphQLSchema,
  problems: string[],
): string | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  const values = (schema.getType(enumName) as GraphQLEnumType).getValues().map((value) => value.name);
  const given = 'value' in node ? String(node.value) : '';
  const found = values.find((one) => one === given);
  if (found !== undefined && node.kind === Kind.ENUM) return found;
  const fix = found === undefined ? didYouMean(given.toUpperCase(), values) : `; write ${found}`;
  problems.push(`${name} must be one of ${values.join(', ')}, without quotes${fix}`);
  return undefined;
}
