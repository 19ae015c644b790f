import { Kind } from 'graphql';
import type { DocumentNode, GraphQLError, InputValueDefinitionNode, SourceLocation, TypeNode } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { unknownDirectiveFix } from '../federation/federation-link.ts';
import type { FederationLink } from '../federation/federation-link.ts';

/** The schema in which a mistake was found. */
interface Context {
  readonly link: FederationLink | undefined;
  /** With crier's definitions. */
  readonly document: DocumentNode;
}

/** By messages of graphql-js that name no mend: the text in their place. `groups` are those of the expression. */
const TEXTS: readonly (readonly [message: RegExp, text: (groups: readonly string[], context: Context) => string])[] = [
  [
    /^(Directive "@(?:authenticated|requiresScopes)" may not be used on \w+)\.$/,
    ([message]) => `${message}; put it on a field, an object type, an interface, a scalar or an enum`,
  ],
  [/^(Unknown directive "@(\w+)")\.$/, ([message, name], context) => message + directiveFix(name!, context)],
  [
    /^(Unknown type "(\w+)")\.$/,
    ([message, name], { document }) =>
      message +
      (IMPORT.test(document.definitions[0]?.loc?.source.body ?? '')
        ? '; #import is a comment here: move the definitions of that file into schema.graphql'
        : `; define it: scalar ${name} for single values, or type ${name} { … } for objects`),
  ],
  [
    /^(Unknown argument "(\w+)" on directive "@(\w+)")\.(.*)$/,
    ([message, name, directive, near], { document }) =>
      message +
      (memberFix(name!, argumentsOf(directive!, document), document) || near || listFix(directive!, document)),
  ],
  [
    /^(Directive "@(\w+)") argument "(\w+)" of type "String!" is required, but it was not provided\.$/,
    ([message, directive, argument]) => `${message} needs ${argument}; write @${directive}(${argument}: "…")`,
  ],
  [
    /^The type of (\S+) must be Output Type but got: \W*(\w+)\S*\.$/,
    ([coordinate, name]) =>
      `${coordinate} is of ${name}, which is an input, and fields return none; define it as type ${name} { … }`,
  ],
  [
    /^The type of (\S+) must be Input Type but got: \W*(\w+)\S*\.$/,
    ([coordinate, name]) =>
      `${coordinate} is of ${name}, which only fields return; give it a scalar, an enum or an input: input ${name}Input { … }`,
  ],
];

/** What bundlers of SDL read. */
const IMPORT = /^\s*#\s*import\b/m;

/** The messages of graphql-js for what is written twice. */
const TWICE = /^(?:There can be only one|.* can only be (?:defined|used) once)/;
const TYPE_TWICE = /^There can be only one type named "(\w+)"/;
const MEMBER_TWICE = /^(?:Field|Enum value) "(\w+)\./;

/** A line for each mistake that graphql-js finds in an SDL. A type that is there twice is one mistake, whatever its fields are. */
export function sdlProblems(errors: readonly GraphQLError[], context: Context): string[] {
  const twice = errors.map(({ message }) => TYPE_TWICE.exec(message)?.[1]);
  return errors
    .filter(({ message }) => !twice.includes(MEMBER_TWICE.exec(message)?.[1] ?? ''))
    .map((error) => sdlProblem(error, context));
}

function sdlProblem({ message, locations = [], source, nodes }: GraphQLError, context: Context): string {
  const isTwice = TWICE.test(message);
  const line = locations.at(isTwice ? -1 : 0)?.line;
  const file = source?.name ?? nodes?.[0]?.loc?.source.name ?? 'schema.graphql';
  const text = isTwice ? message.replace(/\.$/, twiceFix(message, locations)) : rewritten(message, context);
  return `${file}${line === undefined ? '' : `:${line}`}: ${text}`;
}

function rewritten(message: string, context: Context): string {
  for (const [pattern, text] of TEXTS) {
    const groups = pattern.exec(message)?.slice(1);
    if (groups) return text(groups, context);
  }
  return message;
}

function twiceFix(message: string, locations: readonly SourceLocation[]): string {
  const first = locations.length > 1 ? `: the first is in line ${locations[0]!.line}` : '';
  const topics = message.includes('"@kafka"') ? ', which may have several topics: topics: ["…", "…"]' : '';
  return `${first}; keep one${topics}`;
}

/** What other servers call their directives for the rights of clients. */
const OF_ACCESS = /auth|login|permission|role|scope/i;

function directiveFix(name: string, { link, document }: Context): string {
  const known = document.definitions.flatMap((one) =>
    one.kind === Kind.DIRECTIVE_DEFINITION ? [`@${one.name.value}`] : [],
  );
  const fix = unknownDirectiveFix(name, link) || didYouMean(`@${name}`, known);
  if (fix) return fix;
  return OF_ACCESS.test(name)
    ? '; write @authenticated, or @requiresScopes(scopes: [["…"]])'
    : `; define it (directive @${name} on …), or remove it`;
}

function argumentsOf(directive: string, { definitions }: DocumentNode): readonly InputValueDefinitionNode[] {
  const found = definitions.find((one) => one.kind === Kind.DIRECTIVE_DEFINITION && one.name.value === directive);
  return found?.kind === Kind.DIRECTIVE_DEFINITION ? (found.arguments ?? []) : [];
}

function listFix(directive: string, document: DocumentNode): string {
  return `; it has ${argumentsOf(directive, document)
    .map(({ name }) => name.value)
    .join(', ')}`;
}

/** Says of which arguments a name is a member: `key` is one of match. '' if of none. */
function memberFix(name: string, args: readonly InputValueDefinitionNode[], { definitions }: DocumentNode): string {
  const texts = args.flatMap(({ name: { value: arg }, type }) => {
    const input = definitions.find(
      (one) => one.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION && one.name.value === innermostName(type),
    );
    const fields = input?.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION ? (input.fields ?? []) : [];
    if (!fields.some((field) => field.name.value === name)) return [];
    const needed = fields.filter((field) => field.name.value !== name && field.type.kind === Kind.NON_NULL_TYPE);
    const object = `{ ${[...needed.map((field) => field.name.value), name].map((one) => `${one}: …`).join(', ')} }`;
    return `${arg}: ${type.kind === Kind.LIST_TYPE ? `[${object}]` : object}`;
  });
  return texts.length === 0 ? '' : `; write ${texts.join(' or ')}`;
}

function innermostName(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : innermostName(type.type);
}
