import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  TokenKind,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import type { DocumentNode, SelectionSetNode } from 'graphql';
import { DocumentCache } from '../../../src/graph/documents/document-cache.ts';
import { CORPUS_SDL, corpusResolvers, schemaOf } from './corpus.ts';
import { documentOf } from './random-documents.ts';

const schema = schemaOf(CORPUS_SDL, corpusResolvers);

/** Of names, arguments, fragments, cycles, conditions, variables, types, and text that is none. */
const PIECES = [
  'id nothing title { id } lot lot { id } lots { nothing } auction(id: 1) auction parent { parent { id } } a_id: title id: title',
  'echo(x: "a") echo(x: 1) echo(y: "no") echo(z: NOPE) echo(f: { a: 1, q: 2 }) echo(l: [1, null]) echo(nope: 1) echo(p: {}) echo(x: $x)',
  '...F ...G ...Nope ... on Lot { id } ... on Nope { id } ... on Node { title } fragment F on Auction { ...F id } fragment H on Auction { ...F }',
  'fragment G on Lot { id } fragment I on Status { id } @skip @skip(if: 1) @include(if: $z) @include(if: false) @nope @skip(if: true) @skip(if: true)',
  '$x ($x: Nope) ($x: Auction) ($x: Int = "a") query query Q { crier } mutation { nothing } subscription S { whole { node { id } } } subscription { a: whole { auction { id } } b: whole { auction { id } } }',
  '__schema { types { name } } __type(name: "Lot") { name } __typename type Lot { id: ID } { } ( ) : ! = | [ ] & " """ \\ # \n 1 1e 01 -  \u0000 \ufeff é 💥 \ud800',
].flatMap((line) => line.split(/ (?![^{(]*[})])/));

const pieceOf = fc.constantFrom(...PIECES, ...'{}()[]:!=$@"#\\.'.split(''));

/** A text whose pieces have been taken out, put in, replaced or swapped. */
const mutatedOf = fc
  .tuple(
    documentOf,
    fc.array(fc.tuple(fc.constantFrom('insert', 'replace', 'delete', 'cut', 'repeat'), fc.nat(), pieceOf), {
      maxLength: 4,
    }),
  )
  .map(([text, mutations]) =>
    mutations.reduce((current, [how, at, piece]) => {
      if (how === 'cut') return current.slice(0, at % (current.length + 1));
      const words = current.split(/(?<=[\s{}()])/);
      const index = at % words.length;
      const removed = how === 'insert' || how === 'repeat' ? 0 : 1;
      const added = how === 'delete' ? [] : how === 'repeat' ? words.slice(index, index + 5) : [` ${piece} `];
      return words.toSpliced(index, removed, ...added).join('');
    }, text),
  );

const limitsOf = fc.oneof(
  fc.constant({ maxLength: 100_000, maxTokens: 10_000, maxDepth: 100, maxAliases: 1000, maxDirectives: 1000 }),
  fc.record({
    maxLength: fc.integer({ min: 50, max: 1000 }),
    maxTokens: fc.integer({ min: 10, max: 200 }),
    maxDepth: fc.integer({ min: 1, max: 6 }),
    maxAliases: fc.nat(5),
    maxDirectives: fc.nat(5),
  }),
);
type Limits = typeof limitsOf extends fc.Arbitrary<infer Value> ? Value : never;

/** crier's own reasons to refuse a document. */
const OWN = [
  /^The query is longer than \d+ characters\.$/,
  /^Syntax Error: the query is empty: it needs an operation, such as \{ __typename \}$/,
  /^The query is not well-formed Unicode\.$/,
  /^Syntax Error: Document contains more tha[nt] \d+ tokens\. Parsing aborted\.$/,
  /^The document (nests fields|has) more than \d+ (levels deep|aliases|directives|fields), with fragments expanded\.$/,
  /^A subscription must not use @skip or @include on its root field\.$/,
  /^The schema has no mutation type, so it cannot execute a mutation\.$/,
];

/** Any text as a document is accepted, or refused for the same reasons, as by graphql-js; but for crier's own limits. */
export function refusalProperty() {
  const cases = fc.record({ query: mutatedOf, limits: limitsOf, hasIntrospection: fc.boolean() });
  return fc.asyncProperty(cases, ({ query, limits, hasIntrospection }) => {
    const options = { ...limits, hasIntrospection, maxEntries: 10, maxBytes: 10_000_000, maxInvalidEntries: 10 };
    const cache = new DocumentCache(schema, options);
    const answer = cache.get(query);
    assert.deepEqual(cache.get(query), answer, 'asked for again');
    const errors = 'errors' in answer ? answer.errors : [];
    const own = errors.filter(({ message }) => OWN.some((pattern) => pattern.test(message)));
    const expected = verdict(query, hasIntrospection);
    if ('document' in answer) {
      assert.ok('document' in expected && !exceeds(expected.document, query, limits), `accepted: ${query}`);
    } else if ('document' in expected) {
      assert.ok(errors.length > 0 && own.length === errors.length, `refused: ${query}\n${JSON.stringify(errors)}`);
      assert.ok(
        exceeds(expected.document, query, limits),
        `refused within the limits: ${query}\n${JSON.stringify(own)}`,
      );
    } else if (own.length === 0) {
      assert.deepEqual(errors, expected.errors, query);
    }
    return Promise.resolve();
  });
}

function verdict(query: string, hasIntrospection: boolean) {
  let document: DocumentNode;
  try {
    document = parse(query);
  } catch (error) {
    assert.ok(error instanceof GraphQLError, String(error));
    return { errors: coded([error], 'GRAPHQL_PARSE_FAILED') };
  }
  const rules = [...specifiedRules, ...(hasIntrospection ? [] : [NoSchemaIntrospectionCustomRule])];
  try {
    const errors = validate(schema, document, rules, { maxErrors: 10, hideSuggestions: !hasIntrospection });
    return errors.length === 0 ? { document } : { errors: coded(errors, 'GRAPHQL_VALIDATION_FAILED') };
  } catch (error) {
    // It has no values for the variables of a condition at the root of a subscription. crier refuses these before.
    assert.match((error as Error).message, /^Argument "if" /);
    return { errors: [] };
  }
}

function coded(errors: readonly GraphQLError[], code: string) {
  return errors.map((error) => ({ ...error.toJSON(), extensions: { code } }));
}

/** Whether a document that is valid for graphql-js goes beyond what crier allows: all fragments are written out. */
function exceeds(document: DocumentNode, query: string, limits: Limits): boolean {
  if (query.length > limits.maxLength || /\p{Surrogate}/u.test(query)) return true;
  if (tokensOf(document) > limits.maxTokens) return true;
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  return document.definitions.some((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) return false;
    const count = { depth: 0, aliases: 0, directives: definition.directives?.length ?? 0, fields: 0, conditions: 0 };
    const visit = (set: SelectionSetNode | undefined, depth: number, isIntrospection: boolean): void => {
      for (const node of set?.selections ?? []) {
        count.directives += node.directives?.length ?? 0;
        if (depth === 1) count.conditions += node.directives?.length ?? 0;
        if (node.kind === Kind.FIELD) {
          count.fields++;
          if (node.alias) count.aliases++;
          if (!isIntrospection) count.depth = Math.max(count.depth, depth);
          visit(node.selectionSet, depth + 1, isIntrospection || /^__(schema|type)$/.test(node.name.value));
        } else if (node.kind === Kind.INLINE_FRAGMENT) visit(node.selectionSet, depth, isIntrospection);
        else {
          const fragment = fragments.get(node.name.value)!;
          count.directives += fragment.directives?.length ?? 0;
          visit(fragment.selectionSet, depth, isIntrospection);
        }
      }
    };
    visit(definition.selectionSet, 1, false);
    const root = definition.kind === Kind.OPERATION_DEFINITION ? String(definition.operation) : '';
    return (
      root === 'mutation' ||
      (root === 'subscription' && count.conditions > 0) ||
      count.depth > limits.maxDepth ||
      count.aliases > limits.maxAliases ||
      count.directives > limits.maxDirectives ||
      count.fields > limits.maxTokens
    );
  });
}

function tokensOf(document: DocumentNode): number {
  let count = 0;
  for (let token = document.loc!.startToken.next; token && token.kind !== TokenKind.EOF; token = token.next) {
    if (token.kind !== TokenKind.COMMENT) count++;
  }
  return count;
}
