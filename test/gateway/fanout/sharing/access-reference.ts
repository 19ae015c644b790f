import {
  GraphQLError,
  buildSchema,
  execute,
  getDirectiveValues,
  getNamedType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  parse,
} from 'graphql';
import type {
  ConstDirectiveNode,
  ExecutionResult,
  GraphQLField,
  GraphQLInterfaceType,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql';

export type Claims = Record<string, unknown>;
export type Source = Record<string, unknown>;

/** The owner's only; it reads one claim. */
export const isOwner = (source: Source, claims: Claims) => source['owner'] === claims['sub'];
/** For anybody but one; it reads a claim of some values only. */
export const isOpen = (value: Source, claims: Claims) =>
  value['blocked'] === undefined || value['blocked'] !== claims['sub'];

/** graphql-js alone, with a check in each resolver. */
export function referenceOf(sdl: string, guarded: readonly string[]) {
  const schema = buildSchema(sdl, { noLocation: true });
  const all: (readonly ConstDirectiveNode[])[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || !(isObjectType(type) || isInterfaceType(type))) continue;
    all.push(directivesOn(type));
    const fields: Readonly<Record<string, GraphQLField<Source, Claims>>> = type.getFields();
    for (const field of Object.values(fields)) {
      all.push(field.astNode?.directives ?? []);
      if (isObjectType(type)) checkField(schema, type, field, guarded);
    }
  }
  const things = schema.getType('Thing') as GraphQLInterfaceType;
  things.resolveType = (value: Source, claims: Claims) => {
    const name = String(value['__typename']);
    const type = schema.getType(name)!;
    refuseUnless(schema, [...directivesOn(type), ...directivesOn(things)], claims, 'read this "Thing"');
    return name;
  };
  return {
    run: (text: string, rootValue: object, claims: Claims) =>
      execute({ schema, document: parse(text), rootValue, contextValue: claims }) as ExecutionResult,
    answersOf: (claims: Claims) => all.map((nodes) => codeOf(schema, nodes, claims) ?? '').join(),
  };
}

function checkField(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  field: GraphQLField<Source, Claims>,
  guarded: readonly string[],
): void {
  const inherited = type.getInterfaces().flatMap((parent) => {
    const fields: Readonly<Record<string, GraphQLField<unknown, unknown>>> = parent.getFields();
    return fields[field.name]?.astNode?.directives ?? [];
  });
  const named = getNamedType(field.type);
  const interfaces = isObjectType(named) ? named.getInterfaces() : [];
  const nodes = [
    ...(field.astNode?.directives ?? []),
    ...inherited,
    ...[named, ...interfaces].flatMap((one) => directivesOn(one)),
  ];
  const ofValue = (value: unknown, claims: Claims): unknown => {
    if (Array.isArray(value)) return value.map((item: Source) => refusalOfValue(item, claims) ?? item);
    const refused = refusalOfValue(value as Source | null, claims);
    if (refused) throw refused;
    return value;
  };
  const refusalOfValue = (value: Source | null | undefined, claims: Claims): GraphQLError | undefined => {
    if (!value || !['User', 'Thing'].includes(named.name)) return undefined;
    const types = named.name === 'User' ? ['User'] : ['Thing', String(value['__typename'])];
    if (isOpen(value, claims) || !types.some((name) => guarded.includes(name))) return undefined;
    return new GraphQLError(`Not allowed to read this "${named.name}".`, { extensions: { code: 'FORBIDDEN' } });
  };
  field.resolve = (source, _, claims) => {
    refuseUnless(schema, nodes, claims, `read "${type.name}.${field.name}"`);
    if (field.name !== 'private') return ofValue(source[field.name], claims);
    if (isOwner(source, claims)) return `private ${String(source['mail'])}`;
    throw new GraphQLError('Not allowed to read "User.private".', { extensions: { code: 'FORBIDDEN' } });
  };
}

function directivesOn(type: GraphQLNamedType): readonly ConstDirectiveNode[] {
  return type.astNode?.directives ?? [];
}

function refuseUnless(schema: GraphQLSchema, nodes: readonly ConstDirectiveNode[], claims: Claims, what: string): void {
  const code = codeOf(schema, nodes, claims);
  const word = code === 'FORBIDDEN' ? 'allowed' : 'authenticated';
  if (code) throw new GraphQLError(`Not ${word} to ${what}.`, { extensions: { code } });
}

/** undefined: the claims meet all directives. */
function codeOf(schema: GraphQLSchema, nodes: readonly ConstDirectiveNode[], claims: Claims): string | undefined {
  const scopes = [
    ...((claims['scope'] as string | undefined) ?? '').split(' '),
    ...((claims['scp'] as string[] | undefined) ?? []),
  ];
  for (const node of nodes) {
    if (Object.keys(claims).length === 0) return 'UNAUTHENTICATED';
    const values = getDirectiveValues(schema.getDirective(node.name.value)!, { directives: [node] });
    const sets = values?.['scopes'] as string[][] | undefined;
    if (sets && !sets.some((set) => set.every((scope) => scopes.includes(scope)))) return 'FORBIDDEN';
  }
  return undefined;
}
