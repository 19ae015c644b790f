import { Kind, print } from 'graphql';
import type { ConstDirectiveNode, GraphQLField } from 'graphql';
import { directiveOf } from './field-directive.ts';

/** A @record as it is written; its values are not checked. */
export interface RecordUse {
  readonly directive: ConstDirectiveNode;
  /** As it is written, so that text has its quotes. */
  readonly part: string;
  /** Of a header; undefined: left out; '': empty, or no text. */
  readonly name: string | undefined;
}

/** undefined: the field has no @record. */
export function recordUseOf(field: GraphQLField<unknown, unknown>): RecordUse | undefined {
  const directive = directiveOf(field, 'record');
  if (!directive) return undefined;
  const given = new Map(directive.arguments?.map(({ name, value }) => [name.value, value]));
  const part = given.get('field');
  const name = given.get('name');
  return {
    directive,
    part: part ? print(part) : 'nothing',
    name: name && name.kind !== Kind.NULL ? (name.kind === Kind.STRING ? name.value : '') : undefined,
  };
}
