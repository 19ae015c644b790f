import { Kind, getNamedType, print } from 'graphql';
import type { GraphQLField, GraphQLNamedType, GraphQLSchema } from 'graphql';
import type { ChangeDemand } from '../../bus/change-text.ts';
import { directiveOf } from './field-directive.ts';
import { typesReachedBy } from './record-demand.ts';

type Field = GraphQLField<unknown, unknown>;

export const NO_DEMAND: ChangeDemand = { before: false, sourceTimestamp: false, transaction: false, isSnapshot: false };

/** The member that a @change reads. */
const MEMBERS: Readonly<Record<string, keyof ChangeDemand>> = {
  BEFORE: 'before',
  SOURCE_TIMESTAMP: 'sourceTimestamp',
  TRANSACTION: 'transaction',
  SNAPSHOT: 'isSnapshot',
};

/** The `field` of a @change as it is written, so that text has its quotes. undefined: the field has no @change. */
export function changePartOf(field: Field): string | undefined {
  const directive = directiveOf(field, 'change');
  if (!directive) return undefined;
  const value = directive.arguments?.find(({ name }) => name.value === 'field')?.value;
  return value && value.kind !== Kind.NULL ? print(value) : 'nothing';
}

/** What the @changes on the types that a field reaches read. */
export function readChangeDemand(schema: GraphQLSchema, field: Field): ChangeDemand {
  const members = changesReachedBy(schema, field).map((each) => MEMBERS[changePartOf(each)!]);
  return members.reduce((demand, member) => (member ? { ...demand, [member]: true } : demand), NO_DEMAND);
}

/** The types that the results of a field may have for whole rows before. */
export function typesOfBefore(schema: GraphQLSchema, field: Field): readonly GraphQLNamedType[] {
  const befores = changesReachedBy(schema, field).filter((each) => changePartOf(each) === 'BEFORE');
  return befores.map(({ type }) => getNamedType(type));
}

/** True if the results of a field may have fields with @change. */
export function hasChangeFields(schema: GraphQLSchema, field: Field): boolean {
  return changesReachedBy(schema, field).length > 0;
}

function changesReachedBy(schema: GraphQLSchema, field: Field): Field[] {
  const fields = [...typesReachedBy(schema, field)].flatMap((type) => Object.values(type.getFields()));
  return fields.filter((each) => changePartOf(each) !== undefined);
}
