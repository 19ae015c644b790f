import { Lexer, TokenKind, printSourceLocation } from 'graphql';
import type { GraphQLError, Source, SourceLocation, Token } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { unknownDirectiveFix } from '../federation/federation-link.ts';
import { operatorMeant } from '../filter/operator-names.ts';
import type { FederationLink } from '../federation/federation-link.ts';

/** Message of graphql-js for one of the access directives on a union, an argument or an input type. */
const ACCESS_MISPLACED = /^(Directive "@(?:authenticated|requiresScopes)" may not be used on \w+)\.$/;
const ACCESS_FIX = '; put it on a field, an object type, an interface, a scalar or an enum';
const UNKNOWN_DIRECTIVE = /^(Unknown directive "@(\w+)")\.$/;

/** The line of a mistake that graphql-js finds in an SDL. @param directives names of those that the schema has */
export function sdlProblem(
  error: GraphQLError,
  link: FederationLink | undefined,
  directives: readonly string[],
): string {
  const line = error.locations?.[0]?.line;
  const file = error.source?.name ?? error.nodes?.[0]?.loc?.source.name ?? 'schema.graphql';
  const message = error.message
    .replace(ACCESS_MISPLACED, `$1${ACCESS_FIX}`)
    .replace(UNKNOWN_DIRECTIVE, (_, unknown: string, name: string) => {
      const near = didYouMean(
        `@${name}`,
        directives.map((one) => `@${one}`),
      );
      return unknown + (unknownDirectiveFix(name, link) || near || '.');
    });
  return `${file}${line === undefined ? '' : `:${line}`}: ${message}`;
}

/** The place and the text of a syntax error, and the lines around it. */
export function syntaxProblem({ message, source, locations, positions }: GraphQLError): string {
  const [location = { line: 1, column: 1 }] = locations ?? [];
  const [position = 0] = positions ?? [];
  if (!source) return message;
  const excerpt = printSourceLocation(source, location).split('\n').slice(1).join('\n');
  return `${source.name}:${location.line}:${location.column}: ${message}${operatorFix(source, location) || openBracketFix(source, location, position)}\n\n${excerpt}`;
}

/** The operator that is meant where a sign stands in its place: `op: >=`. */
function operatorFix(source: Source, { line, column }: SourceLocation): string {
  const text = source.body.split(/\r\n|[\n\r]/)[line - 1] ?? '';
  const [sign] = /^[<>=!]+/.exec(text.slice(column - 1)) ?? [];
  const meant = sign !== undefined && /\bop:\s*$/.test(text.slice(0, column - 1)) ? operatorMeant(sign) : undefined;
  return meant ? ` Write op: ${meant}.` : '';
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

/** Where the text ends, a definition begins or another bracket closes within brackets: the line of the innermost that is not closed. */
function openBracketFix(source: Source, { line }: SourceLocation, position: number): string {
  const open = innermostBracket(source, position);
  const closing = open && CLOSING.get(open.kind);
  if (closing === undefined) return '';
  const rest = source.body.slice(position).trim();
  const isWithin =
    rest !== '' &&
    (!CLOSED.has(rest[0]!) || rest.startsWith(closing)) &&
    !DEFINITION.test(source.body.split(/\r\n|[\n\r]/)[line - 1] ?? '');
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
