import { Lexer, TokenKind, printSourceLocation } from 'graphql';
import type { GraphQLError, Source, SourceLocation, Token } from 'graphql';
import { operatorMeant } from '../filter/filter-rule.ts';

/**
 * The place and the text of a syntax error, and the lines around it.
 * @param isSchema false: the text is an operation
 */
export function syntaxProblem({ message, source, locations, positions }: GraphQLError, isSchema: boolean): string {
  const [location = { line: 1, column: 1 }] = locations ?? [];
  const [position = 0] = positions ?? [];
  if (!source) return message;
  const fix =
    operatorFix(source, location) ||
    (isSchema && noSchemaFix(source, position)) ||
    (message.includes('Unterminated string') && unterminatedFix(source.body.slice(0, position))) ||
    openBracketFix(source, location, position) ||
    textFix(message, source.body.slice(0, position), source.body.slice(position));
  const excerpt = printSourceLocation(source, location).split('\n').slice(1).join('\n');
  return `${source.name}:${location.line}:${location.column}: ${message}${fix}\n\n${excerpt}`;
}

/** The operator that is meant where a sign stands in its place: `op: >=`. */
function operatorFix(source: Source, { line, column }: SourceLocation): string {
  const text = source.body.split(/\r\n|[\n\r]/)[line - 1] ?? '';
  const [sign] = /^[<>=!]+/.exec(text.slice(column - 1)) ?? [];
  const meant = sign !== undefined && /\bop:\s*$/.test(text.slice(0, column - 1)) ? operatorMeant(sign) : undefined;
  return meant ? ` Write op: ${meant}.` : '';
}

/** What is before and at the place of an error, and the mend. `groups` are those of the three expressions, one after the other. */
interface TextFix {
  readonly message?: RegExp;
  readonly before?: RegExp;
  readonly at?: RegExp;
  readonly fix: (...groups: readonly string[]) => string;
}

const TEXT_FIXES: readonly TextFix[] = [
  { at: /^[“”„‟«»]/, fix: () => 'Write straight quotes: "…".' },
  { at: /^\/[/*]/, fix: () => 'A comment begins with #, in each of its lines.' },
  { at: /^;/, fix: () => 'Remove it: no ; ends a line.' },
  { before: /\b(?:type|input|interface|enum)\s+\w+\s*$/, at: /^=/, fix: () => 'Remove it: { follows the name.' },
  { before: /@\w+\(\s*$/, at: /^["\d{[]/, fix: () => 'An argument begins with its name, as in topic: "orders".' },
  {
    before: /\benum\s+\w+[^{}]*\{[^{}]*$/,
    at: /^["}]/,
    message: /String|"\}"/,
    fix: () => 'Values of an enum have no quotes.',
  },
  { before: /\bunion\b[^=\n]*=[^\n]*\w[ \t,]*$/, at: /^\w/, fix: () => 'Separate the members of a union by |.' },
  { before: /\bimplements\b[^{\n]*\w[ \t,]*$/, at: /^\w/, fix: () => 'Separate interfaces by &.' },
  {
    message: /Invalid number/,
    before: /(\w+(?:-\w+)*-)$/,
    at: /^([\w-]+)/,
    fix: (begin, rest) => `A name has no -: write ${`${begin}${rest}`.replaceAll('-', '_')}.`,
  },
  {
    message: /Expected ":"/,
    before: /(\w+)\s*$/,
    at: /^@(\w+)/,
    fix: (field, directive) => `The type comes first: ${field}: … @${directive}(…).`,
  },
  {
    message: /Expected ":", found Name/,
    before: /(\w+)\s*$/,
    at: /^(\w+)/,
    fix: (name, type) => `Write ${name}: ${type}.`,
  },
  { before: /[^:(,\s]\s*$/, at: /^:/, message: /Expected Name/, fix: () => 'Close the ( before it: add a ).' },
];

function textFix(message: string, before: string, at: string): string {
  for (const { message: ofMessage = /^/, before: ofBefore = /^/, at: ofAt = /^/, fix } of TEXT_FIXES) {
    const matches = [ofMessage.exec(message), ofBefore.exec(before), ofAt.exec(at)];
    if (matches.every((match) => match !== null)) return ` ${fix(...matches.flatMap((match) => match.slice(1)))}`;
  }
  return '';
}

/** A block string ends at the end of the text. */
function unterminatedFix(before: string): string {
  const blocks = [...before.matchAll(/"""/g)];
  if (blocks.length % 2 === 0) return ' Add the " at its end.';
  const line = before.slice(0, blocks.at(-1)!.index).split('\n').length;
  return ` The """ of line ${line} is not closed: add """.`;
}

/** For a text that is no schema: JSON, as of Avro, and an operation, which a client sends. */
function noSchemaFix(source: Source, position: number): string {
  if (/^\s*[[{]\s*["{]/.test(source.body))
    return ' This is JSON, and a schema is SDL, as type Order { id: ID! }; crier init --sample writes one from records.';
  for (const { token, next } of outermostTokens(source, position)) {
    if (/^(?:query|mutation|subscription)$/.test(token.value) && next?.kind === TokenKind.BRACE_L) {
      const type = token.value[0]!.toUpperCase() + token.value.slice(1);
      return ` Line ${token.line} begins an operation: a schema has type ${type} { … }.`;
    }
  }
  return '';
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
  for (const token of tokensBefore(source, position)) {
    if (CLOSING.has(token.kind)) open.push(token);
    if (CLOSED.has(token.kind)) open.pop();
  }
  return open.at(-1);
}

/** Names that are in no bracket, each with the token after it. */
function* outermostTokens(source: Source, position: number) {
  let depth = 0;
  const tokens = tokensBefore(source, position);
  for (const [i, token] of tokens.entries()) {
    if (CLOSING.has(token.kind)) depth++;
    if (CLOSED.has(token.kind)) depth--;
    if (depth === 0 && token.kind === TokenKind.NAME) yield { token, next: tokens[i + 1] };
  }
}

/** Up to the first that is none. */
function tokensBefore(source: Source, position: number): Token[] {
  const tokens: Token[] = [];
  const lexer = new Lexer(source);
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF && token.start < position; token = lexer.advance())
      tokens.push(token);
  } catch {
    // `position` is that of the text that is no token.
  }
  return tokens;
}
