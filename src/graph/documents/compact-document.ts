import { Kind, isIntrospectionType } from 'graphql';
import type { ASTNode, DocumentNode, GraphQLField, GraphQLInputField, GraphQLSchema, NameNode } from 'graphql';

const EMPTY: readonly never[] = Object.freeze([]);

/** Name nodes for the names of a schema, which all documents share: a name and empty lists are more than half of a field's memory. */
export type NameNodes = ReadonlyMap<string, NameNode>;

export function nameNodesOf(schema: GraphQLSchema): NameNodes {
  const names = new Set<string>(['__typename']);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    names.add(type.name);
    if (!('getFields' in type)) continue;
    for (const field of Object.values<GraphQLField<unknown, unknown> | GraphQLInputField>(type.getFields())) {
      names.add(field.name);
      if ('args' in field) for (const argument of field.args) names.add(argument.name);
    }
  }
  return new Map([...names].map((value) => [value, Object.freeze({ kind: Kind.NAME, value })]));
}

/**
 * Reduces the memory of a document without locations. Its nodes share frozen empty lists and the frozen names of the schema; other lists
 * are trimmed, since the parser's have room for 17 items.
 */
export function compactDocument(document: DocumentNode, names: NameNodes): void {
  const left: object[] = [document];
  while (left.length > 0) {
    const node = left.pop() as Record<string, unknown>;
    for (const [key, value] of Object.entries(node)) {
      if (typeof value !== 'object' || value === null) continue;
      if (Array.isArray(value)) left.push((node[key] = value.length === 0 ? EMPTY : value.slice()) as object);
      else if ((value as ASTNode).kind === Kind.NAME) node[key] = names.get((value as NameNode).value) ?? value;
      else left.push(value);
    }
  }
}
