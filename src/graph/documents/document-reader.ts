import { hash } from 'node:crypto';
import {
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import type { DocumentNode, GraphQLFormattedError, GraphQLSchema, ValidationRule } from 'graphql';
import type { ErrorCode } from '../../base/errors.ts';
import type { InvalidDocument } from './cached-document.ts';
import { compactDocument, nameNodesOf } from './compact-document.ts';
import type { NameNodes } from './compact-document.ts';
import { checkLimits } from './document-limits.ts';
import type { DocumentLimits } from './document-limits.ts';
import { documentWeight } from './document-weight.ts';
import { fieldOverlap } from './field-overlap.ts';
import { withoutIncremental } from './incremental-directives.ts';
import { knownOperationTypesRule } from './known-operation-types-rule.ts';
import { noSubgraphSdlRule } from './no-subgraph-sdl-rule.ts';
import type { ValidDocument } from './operation.ts';

export interface DocumentReaderOptions {
  /** True if clients may read the schema. If not, error messages do not suggest its names either. */
  readonly hasIntrospection: boolean;
  /** True: the nodes of a document keep their locations. Default: false. */
  readonly hasLocations?: boolean;
}

/** What a document may cost. */
export interface ReadingLimits extends Omit<DocumentLimits, 'maxFields'> {
  /** Longest query text, in UTF-16 units; a longer one is refused before anything else looks at it. */
  readonly maxLength: number;
  /** Tokens in a document, and fields with fragments expanded. */
  readonly maxTokens: number;
}

/**
 * Of a trusted document, whose author is no stranger: only what would block the event loop for long is refused. 20,000 tokens take 0.1 to
 * 0.6 s.
 */
export const TRUSTED_LIMITS: ReadingLimits = {
  maxLength: Infinity,
  maxTokens: 20_000,
  maxDepth: 200,
  maxAliases: Infinity,
  maxDirectives: Infinity,
};

/**
 * Pairs of fields with one response name that may be compared, at 0.5 µs each, or a tenth of that without arguments and selections. The
 * limit applies only where two of them differ, as for several types of an interface: 100 types with 20 common leaves have 9,900 pairs.
 */
const MAX_FIELD_PAIRS = 10_000;

/** Selections of an expanded document for each field that it may have; the others are fragments. */
const SELECTIONS_PER_FIELD = 10;

/** Each error is cached and sent, and the first few are enough. */
const MAX_ERRORS = 10;

/** Rules of graphql-js 17: crier has the first with one message for 16 and 17, and delivers at once what `@defer` and `@stream` name. */
const NOT_CHECKED = [
  'KnownOperationTypesRule',
  'DeferStreamDirectiveOnRootFieldRule',
  'DeferStreamDirectiveOnValidOperationsRule',
];

/** Parses and validates query texts. */
export class DocumentReader {
  readonly #schema: GraphQLSchema;
  readonly #options: DocumentReaderOptions;
  readonly #rules: readonly ValidationRule[];
  readonly #names: NameNodes;

  constructor(schema: GraphQLSchema, options: DocumentReaderOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#rules = [
      ...specifiedRules.filter(({ name }) => !NOT_CHECKED.includes(name)),
      knownOperationTypesRule,
      ...(options.hasIntrospection ? [] : [NoSchemaIntrospectionCustomRule, noSubgraphSdlRule]),
    ];
    this.#names = nameNodesOf(schema);
  }

  read(query: string, limits: ReadingLimits): ValidDocument | InvalidDocument {
    return nestingSafe(() => this.#read(query, limits));
  }

  /** Validates a document that is valid against another schema: of its limits only those count that protect the event loop. */
  reread({ key, document, bytes }: Omit<ValidDocument, 'schema'>): ValidDocument | InvalidDocument {
    return nestingSafe(() => {
      const errors = this.#validate(document, TRUSTED_LIMITS);
      if (errors.length > 0) return { errors: formatted(errors, 'GRAPHQL_VALIDATION_FAILED') };
      return { key, document, bytes, schema: this.#schema };
    });
  }

  #read(query: string, limits: ReadingLimits): ValidDocument | InvalidDocument {
    const { hasLocations = false } = this.#options;
    let document: DocumentNode;
    try {
      document = parseWithin(query, limits, hasLocations);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return { errors: formatted([error], 'GRAPHQL_PARSE_FAILED') };
    }
    if (this.#validate(document, limits).length === 0) {
      document = withoutIncremental(this.#schema, document, query);
      if (!hasLocations) compactDocument(document, this.#names);
      return { key: hash('sha256', query), document, bytes: documentWeight(document), schema: this.#schema };
    }
    // Locations cost memory and time, so by default only invalid documents are parsed with them.
    return { errors: formatted(this.#validate(parseWithin(query, limits, true), limits), 'GRAPHQL_VALIDATION_FAILED') };
  }

  #validate(document: DocumentNode, limits: ReadingLimits): readonly GraphQLError[] {
    const exceeded = checkLimits(document, { ...limits, maxFields: limits.maxTokens });
    if (exceeded.length > 0) return exceeded;
    const { isTrivial, pairs } = fieldOverlap(this.#schema, document, limits.maxTokens * SELECTIONS_PER_FIELD);
    const isTooMuch = !isTrivial && pairs > MAX_FIELD_PAIRS;
    const rules =
      isTrivial || isTooMuch ? this.#rules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule) : this.#rules;
    const hideSuggestions = !this.#options.hasIntrospection;
    const errors = validate(this.#schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions });
    // A cycle of fragments exceeds the limit, too, but has an error of its own.
    if (!isTooMuch || errors.length > 0) return errors;
    const message = `The document has more than ${MAX_FIELD_PAIRS} pairs of fields with one response name, some of which differ.`;
    return [new GraphQLError(message, { nodes: document.definitions[0]! })];
  }
}

function nestingSafe(read: () => ValidDocument | InvalidDocument): ValidDocument | InvalidDocument {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = 'The document is nested too deep.';
    return { errors: formatted([new GraphQLError(message)], 'GRAPHQL_PARSE_FAILED') };
  }
}

function parseWithin(query: string, { maxTokens, maxLength }: ReadingLimits, hasLocations: boolean): DocumentNode {
  if (query.trim() === '')
    throw new GraphQLError('Syntax Error: the query is empty: it needs an operation, such as { __typename }');
  return parse(query, {
    noLocation: !hasLocations,
    maxLexicalTokens: maxTokens,
    maxComments: maxTokens,
    maxSourceLength: maxLength,
  });
}

export function formatted(errors: readonly GraphQLError[], code: ErrorCode): GraphQLFormattedError[] {
  return errors.map((error) => {
    const { message, locations, path, extensions } = error.toJSON();
    return {
      message,
      ...(locations && { locations }),
      ...(path && { path }),
      extensions: { ...extensions, code },
    };
  });
}
