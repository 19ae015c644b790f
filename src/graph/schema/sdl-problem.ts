import { Kind, Lexer, TokenKind, printSourceLocation } from 'graphql';
import type {
  DocumentNode,
  GraphQLError,
  InputValueDefinitionNode,
  Source,
  SourceLocation,
  Token,
  TypeNode,
} from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { unknownDirectiveFix } from '../federation/federation-link.ts';
import { operatorMeant } from '../filter/operator-names.ts';
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
    ([message, name]) => `${message}; define it: scalar ${name} for single values, or type ${name} { … } for objects`,
  ],
  [
    /^(Unknown argument "(\w+)" on directive "@(\w+)")\.(.*)$/,
    ([message, name, directive, near], { document }) =>
      message + (memberFix(name!, argumentsOf(directive!, document), document) || `.${near}`),
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

/** The place and the text of a syntax error, and the lines around it. */
export function syntaxProblem({ message, source, locations, positions }: GraphQLError): string {
  const [location = { line: 1, column: 1 }] = locations ?? [];
  const [position = 0] = positions ?? [];
  if (!source) return message;
  const excerpt = printSourceLocation(source, location).split('\n').slice(1).join('\n');
  return `${source.name}:${location.line}:${location.column}: ${message}${operatorFix(source, location) || signFix(source, position) || openBracketFix(source, location, position)}\n\n${excerpt}`;
}

/** The operator that is meant where a sign stands in its place: `op: >=`. */
function operatorFix(source: Source, { line, column }: SourceLocation): string {
  const text = source.body.split(/\r\n|[\n\r]/)[line - 1] ?? '';
  const [sign] = /^[<>=!]+/.exec(text.slice(column - 1)) ?? [];
  const meant = sign !== undefined && /\bop:\s*$/.test(text.slice(0, column - 1)) ? operatorMeant(sign) : undefined;
  return meant ? ` Write op: ${meant}.` : '';
}

/** By signs of other languages: what GraphQL has in their place. */
const SIGNS: readonly (readonly [sign: RegExp, fix: string])[] = [
  [/^\/[/*]/, ' A comment begins with #, in each of its lines.'],
  [/^;/, ' Remove it: no ; ends a line.'],
];

function signFix({ body }: Source, position: number): string {
  return SIGNS.find(([sign]) => sign.test(body.slice(position)))?.[1] ?? '';
}

/** Words with which a definition begins: a field of one of these names is rare. */
const DEFINITION = /^\s*(?:"[^"]*"\s*)?(?:type|input|enum|interface|union|scalar|directive|extend|schema)\b/;

/** The bracket that closes another. */
const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['(', ')'],
  ['[', ']'],
]);
const CLOSED: ReadonlySet<string> = new Set(CLOSING.values());

/**
 * Where the text ends, a definition begins in a later line, or another bracket closes within brackets: the line of the innermost that is not
 * closed. Or that there is nothing between the two.
 */
function openBracketFix(source: Source, { line }: SourceLocation, position: number): string {
  const open = innermostBracket(source, position);
  const closing = open && CLOSING.get(open.kind);
  if (closing === undefined) return '';
  const rest = source.body.slice(position).trim();
  if (rest.startsWith(closing)) {
    const isEmpty = source.body.slice(open!.end, position).trim() === '';
    return isEmpty ? ` Nothing is between the ${open!.kind} and the ${closing}: fill them, or remove both.` : '';
  }
  const text = source.body.split(/\r\n|[\n\r]/)[line - 1] ?? '';
  const isWithin = rest !== '' && !CLOSED.has(rest[0]!) && (open!.line === line || !DEFINITION.test(text));
  return isWithin ? '' : ` The ${open!.kind} of line ${open!.line} is not closed: add a ${closing}.`;
}

/** The last bracket that is open where a position is. */
function innermostBracket(source: Source, position: number): Token | undefined {
  const open: Token[] = [];
  const lexer = new Lexer(source);
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF && token.start < position; token = lexer.advance()) {
      if (CLOSING.has(token.kind)) open.push(token);
      if (CLOSED.has(token.kind)) open.pop();
    }
  } catch {
    return undefined;
  }
  return open.at(-1);
}
