import {
  GraphQLInt,
  Kind,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import type {
  ConstDirectiveNode,
  ConstValueNode,
  GraphQLField,
  GraphQLInputType,
  GraphQLOutputType,
  GraphQLSchema,
} from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { nameOf } from '../../base/json/key-naming.ts';
import type { PublishNaming } from '../../base/json/key-naming.ts';
import { directiveOf } from '../schema/field-directive.ts';
import { isPath } from '../schema/payload-path.ts';
import { lineOf } from '../schema/problem.ts';
import { isTopic } from '../schema/topics.ts';
import type { Publication, RecordKey } from './publication.ts';
import { publishResolver } from './publish-resolver.ts';
import { collisionIn } from './record-value.ts';

type Field = GraphQLField<unknown, unknown>;

/** What a mutation with @kafkaPublish returns, by name: the types that each may have. */
const RESULT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  topic: ['String', 'ID'],
  partition: ['Int'],
  offset: ['String', 'ID'],
  timestamp: ['String'],
  key: ['String', 'ID'],
};

/**
 * Reads and checks the @kafkaPublish of every Mutation field of a schema with resolvers attached, and gives these fields their resolvers.
 * @returns one line for each mistake
 */
export function attachPublications(schema: GraphQLSchema): { publications: Publication[]; problems: string[] } {
  const publications: Publication[] = [];
  const problems: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(isObjectType(type) || isInterfaceType(type))) continue;
    for (const field of Object.values(type.getFields())) {
      const directive = directiveOf(field, 'kafkaPublish');
      // graphql-js has named the topic that is missing.
      if (!directive?.arguments?.some(({ name }) => name.value === 'topic')) continue;
      const found: string[] = [];
      const publication = type === schema.getMutationType() ? readPublication(field, directive, found) : undefined;
      if (type !== schema.getMutationType())
        found.push('@kafkaPublish is for fields of the Mutation type; remove it here');
      problems.push(...found.map((problem) => `${lineOf(directive)}${type.name}.${field.name}: ${problem}`));
      if (!publication || found.length > 0) continue;
      publications.push(publication);
      field.resolve = publishResolver(publication, field);
    }
  }
  return { publications, problems };
}

function readPublication(field: Field, directive: ConstDirectiveNode, problems: string[]): Publication {
  const given = new Map(directive.arguments?.map(({ name, value }) => [name.value, value]));
  if (field.resolve)
    problems.push('has both @kafkaPublish and a resolver; keep one, or call context.publish in the resolver');
  const topic = textOf(given.get('topic')) ?? '';
  isTopic(topic, problems);
  const naming = given.get('keys');
  const keys = naming?.kind === Kind.ENUM ? (naming.value as PublishNaming) : 'KEEP';
  if (!['KEEP', 'CAMEL', 'SNAKE'].includes(keys)) problems.push('keys must be KEEP, CAMEL or SNAKE, without quotes');
  if (field.args.length === 0) problems.push('has no argument, so the record would be empty; add an input');
  const collision = problems.length === 0 ? collisionIn(field.args, nameOf(keys)) : undefined;
  if (collision) {
    problems.push(
      `the input fields "${collision[0]}" and "${collision[1]}" become one key, "${nameOf(keys)(collision[1])}"; rename one, or use keys: KEEP`,
    );
  }
  checkResult(field.type, problems);
  const key = readKey(field, given.get('key'), problems);
  return { field: field.name, topic, key, keys, claims: readClaims(given.get('claims'), problems) };
}

function textOf(node: ConstValueNode | undefined): string | undefined {
  return node?.kind === Kind.STRING ? node.value : undefined;
}

function readClaims(node: ConstValueNode | undefined, problems: string[]): readonly string[] {
  if (!node || node.kind === Kind.NULL) return [];
  const items = node.kind === Kind.LIST ? node.values : [node];
  const claims = items.flatMap((item) => textOf(item) ?? []);
  if (claims.length !== items.length || claims.some((claim) => claim.split('.').includes(''))) {
    problems.push('claims must be a list of names of claims, such as ["sub"]');
  }
  return claims;
}

function readKey(field: Field, node: ConstValueNode | undefined, problems: string[]): RecordKey | undefined {
  const text = textOf(node);
  if (text === undefined || !isPath(text, 'key', problems)) return undefined;
  const path = text.split('.');
  let parts: readonly { readonly name: string; readonly type: GraphQLInputType }[] = field.args;
  let type: GraphQLInputType | undefined;
  for (const name of path) {
    const part = parts.find((one) => one.name === name);
    if (!part) {
      const what = type ? `${String(type)} has no field` : 'the field has no argument';
      const names = parts.map((one) => one.name);
      problems.push(
        `key "${text}" leads nowhere: ${what} "${name}"${didYouMean(name, names) || (names.length > 0 ? `; it has ${names.join(', ')}` : '')}`,
      );
      return undefined;
    }
    type = getNullableType(part.type);
    parts = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  }
  if (isLeafType(type)) return { path, type };
  problems.push(`key "${text}" ends at ${String(type)}, which is no single value; extend it to a scalar or an enum`);
  return undefined;
}

/** Reports a result that crier cannot fill. */
function checkResult(output: GraphQLOutputType, problems: string[]): void {
  const type = getNullableType(output);
  const names = Object.keys(RESULT_FIELDS).join(', ');
  if (!isObjectType(type)) {
    problems.push(`returns ${String(output)}; return an object type with some of the fields ${names}`);
    return;
  }
  const fields = Object.values(type.getFields());
  const unknown = fields.filter(({ name, resolve }) => !resolve && !Object.hasOwn(RESULT_FIELDS, name));
  if (unknown.length > 0) {
    const quoted = unknown.map(({ name }) => `"${name}"`).join(', ');
    const fix = unknown.length === 1 ? didYouMean(unknown[0]!.name, Object.keys(RESULT_FIELDS)) : '';
    problems.push(
      `returns ${type.name}, whose field${unknown.length === 1 ? '' : 's'} ${quoted} crier cannot fill${fix}; it fills ${names}; give others a resolver`,
    );
  }
  for (const field of fields) {
    if (field.resolve) continue;
    const allowed = Object.hasOwn(RESULT_FIELDS, field.name) ? RESULT_FIELDS[field.name] : undefined;
    const named = getNamedType(field.type);
    if (!allowed) continue;
    if (getNullableType(field.type) !== named || !canHold(field.name, named.name, allowed, isCustom(named))) {
      problems.push(
        `returns ${type.name}, whose field "${field.name}" is of type ${String(field.type)}; use ${allowed.join(' or ')}`,
      );
    }
  }
}

function isCustom(type: unknown): boolean {
  return isScalarType(type) && !isSpecifiedScalarType(type);
}

/** A custom scalar may hold any text. */
function canHold(field: string, type: string, allowed: readonly string[], isCustomScalar: boolean): boolean {
  return allowed.includes(type) || (isCustomScalar && !RESULT_FIELDS[field]!.includes(GraphQLInt.name));
}
