import { Kind, getNamedType, getNullableType, isInterfaceType, isListType, isNonNullType, isObjectType } from 'graphql';
import type { ConstDirectiveNode, GraphQLArgument, GraphQLField, GraphQLSchema } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import { didYouMean } from '../../base/did-you-mean.ts';
import type { Binding } from '../schema/binding.ts';
import { directiveOf } from '../schema/field-directive.ts';
import { lineOf } from '../schema/problem.ts';
import { hasChangeFields } from '../schema/change-demand.ts';
import { hasRecordFields } from '../schema/record-demand.ts';
import { StateReads } from './state-reads.ts';

type Field = GraphQLField<unknown, unknown>;

/**
 * Checks the @state of every field, and gives each its resolver.
 * @param schema with resolvers attached
 * @param bindings by Subscription field
 * @returns the names of the fields, and one line for each mistake
 */
export function attachStateFields(
  schema: GraphQLSchema,
  bindings: ReadonlyMap<string, Binding>,
): { stateFields: string[]; problems: string[] } {
  const stateFields: string[] = [];
  const problems: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const directive = directiveOf(field, 'state');
      if (!directive) continue;
      const found: string[] = [];
      stateFields.push(field.name);
      if (type === schema.getQueryType()) attach(schema, field, bindings, nameIn(directive), found);
      else found.push('@state is for fields of the Query type; remove it here');
      problems.push(...found.map((problem) => `${lineOf(directive)}${type.name}.${field.name}: ${problem}`));
    }
  }
  return { stateFields, problems };
}

function nameIn(directive: ConstDirectiveNode): string {
  const value = directive.arguments?.find(({ name }) => name.value === 'of')?.value;
  return value?.kind === Kind.STRING ? value.value : '';
}

function attach(
  schema: GraphQLSchema,
  field: Field,
  bindings: ReadonlyMap<string, Binding>,
  of: string,
  problems: string[],
): void {
  if (field.resolve) problems.push('has both @state and a resolver; keep one');
  const source = schema.getSubscriptionType()?.getFields()[of];
  if (!source) {
    const names = Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
    problems.push(`@state(of: "${of}"): there is no Subscription field of this name${didYouMean(of, names)}`);
    return;
  }
  const binding = bindings.get(of);
  // A binding with a mistake is reported at its own line.
  if (!binding && directiveOf(source, 'kafka')) return;
  if (!binding?.state) {
    problems.push(`@state(of: "${of}"): this field keeps no state; add state: {} to its @kafka`);
    return;
  }
  if (binding.topics.length > 1) {
    problems.push(`@state(of: "${of}"): this field has several topics, so its state is not one payload`);
  }
  checkType(field, source, problems);
  checkArguments(field, source, binding, problems);
  if (problems.length > 0) return;
  const readsEvent = hasRecordFields(schema, field) || hasChangeFields(schema, field);
  field.resolve = (_source, args: Readonly<Record<string, unknown>>, context) =>
    StateReads.of(context as ExecutionContext).read({ binding, readsEvent }, args, context as ExecutionContext);
}

function checkType(field: Field, source: Field, problems: string[]): void {
  const [own, other] = [field.type, source.type];
  if (isNonNullType(own)) {
    problems.push(
      `is of type ${String(own)}, but there may be no state; make it ${String(getNullableType(own))}, which is null then`,
    );
  }
  if (String(getNullableType(own)) !== String(getNullableType(other))) {
    problems.push(
      `is of type ${String(own)}, but the state of "${source.name}" is of type ${String(getNullableType(other))}`,
    );
  }
}

/** The arguments must choose one channel: those that the binding matches, with their types. */
function checkArguments(field: Field, source: Field, binding: Binding, problems: string[]): void {
  const matched = binding.match.flatMap(({ arg }) => source.args.filter(({ name }) => name === arg));
  for (const argument of matched) {
    const own = field.args.find(({ name }) => name === argument.name);
    if (own) checkArgument(own, argument, source, problems);
    else if (isNonNullType(argument.type)) {
      problems.push(
        `lacks the argument ${argument.name}: ${String(argument.type)}, which "${source.name}" matches; add it`,
      );
    }
  }
  for (const { name } of field.args) {
    if (matched.some((argument) => argument.name === name)) continue;
    problems.push(
      `has the argument "${name}", which "${source.name}" does not match, so it would choose nothing; remove it`,
    );
  }
}

function checkArgument(own: GraphQLArgument, argument: GraphQLArgument, source: Field, problems: string[]): void {
  const isList = isListType(getNullableType(own.type));
  if (isList) problems.push(`has the list argument "${own.name}", but a state is that of one value; take one value`);
  else if (getNamedType(own.type) !== getNamedType(argument.type)) {
    problems.push(
      `has the argument ${own.name}: ${String(own.type)}, which "${source.name}" has as ${String(argument.type)}`,
    );
  } else if (isNonNullType(argument.type) && !isNonNullType(own.type)) {
    problems.push(
      `has the argument ${own.name}: ${String(own.type)}, which "${source.name}" requires; make it ${String(argument.type)}`,
    );
  }
}
