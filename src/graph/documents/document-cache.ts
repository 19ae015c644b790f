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
import { LRUCache } from 'lru-cache';
import { clientError } from '../../errors.ts';
import type { ErrorCode } from '../../errors.ts';
import { compactDocument, nameNodesOf } from './compact-document.ts';
import type { NameNodes } from './compact-document.ts';
import type { CachedDocument, InvalidDocument } from './cached-document.ts';
import { checkLimits } from './document-limits.ts';
import type { DocumentLimits } from './document-limits.ts';
import { documentWeight } from './document-weight.ts';
import { fieldOverlap } from './field-overlap.ts';
import { knownOperationTypesRule } from './known-operation-types-rule.ts';

export interface DocumentCacheOptions extends Omit<DocumentLimits, 'maxFields'> {
  /** Longest query text, in UTF-16 units; a longer one is refused before anything else looks at it. */
  readonly maxLength: number;
  /** Tokens in a document, and fields with fragments expanded. */
  readonly maxTokens: number;
  /** True if clients may read the schema. If not, error messages do not suggest its names either. */
  readonly hasIntrospection: boolean;
  /** True: the nodes of a document keep their locations. Default: false. */
  readonly hasLocations?: boolean;
  /** 0: each request's document is parsed and validated. */
  readonly maxEntries: number;
  /** Estimated memory of the valid documents, in bytes. */
  readonly maxBytes: number;
  /** 0: each invalid document is parsed and validated. */
  readonly maxInvalidEntries: number;
  readonly onLookup?: (outcome: 'hit' | 'miss' | 'invalid') => void;
}

/** Measured with an 85-field document of 700 characters: AST 18 KB, compiled 32 KB. Fields with shorter names take more. */
const BYTES_PER_CHARACTER = 64;
const BYTES_PER_DOCUMENT = 1024;

/**
 * Pairs of fields with one response name that may be compared, at 0.5 µs each, or a tenth of that without arguments and selections. The
 * limit applies only where two of them differ, as for several types of an interface: 100 types with 20 common leaves have 9,900 pairs.
 */
const MAX_FIELD_PAIRS = 10_000;

/** Selections of an expanded document for each field that it may have; the others are fragments. */
const SELECTIONS_PER_FIELD = 10;

/** Each error is cached and sent, and the first few are enough. */
const MAX_ERRORS = 10;

/**
 * Parses and validates each query text once, unless it keeps no entries. Invalid documents have a cache of their own, so that garbage does not evict documents in
 * use.
 */
export class DocumentCache {
  readonly #schema: GraphQLSchema;
  readonly #options: DocumentCacheOptions;
  readonly #limits: DocumentLimits;
  readonly #rules: readonly ValidationRule[];
  readonly #names: NameNodes;
  /** undefined: it keeps no entries. */
  readonly #valid: LRUCache<string, CachedDocument> | undefined;
  readonly #invalid: LRUCache<string, InvalidDocument> | undefined;

  constructor(schema: GraphQLSchema, options: DocumentCacheOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#limits = { ...options, maxFields: options.maxTokens };
    this.#rules = [
      ...specifiedRules,
      knownOperationTypesRule,
      ...(options.hasIntrospection ? [] : [NoSchemaIntrospectionCustomRule]),
    ];
    this.#names = nameNodesOf(schema);
    const { maxEntries, maxBytes, maxInvalidEntries } = options;
    // LRUCache takes a `max` of 0 for no limit.
    this.#valid = maxEntries > 0 ? new LRUCache({ max: maxEntries, maxSize: maxBytes }) : undefined;
    this.#invalid = maxInvalidEntries > 0 ? new LRUCache({ max: maxInvalidEntries }) : undefined;
  }

  /** Count of cached valid documents. */
  get size(): number {
    return this.#valid?.size ?? 0;
  }

  /** Estimated memory of the cached valid documents, in bytes. */
  get bytes(): number {
    return this.#valid?.calculatedSize ?? 0;
  }

  /** Count of cached invalid documents. */
  get invalidSize(): number {
    return this.#invalid?.size ?? 0;
  }

  get(query: string): CachedDocument | InvalidDocument {
    const known = this.find(query);
    if (known) return known;
    const { onLookup } = this.#options;
    const key = hash('sha256', query);
    const result = this.#read(key, query);
    onLookup?.('errors' in result ? 'invalid' : 'miss');
    if ('errors' in result) this.#invalid?.set(key, result);
    else {
      const size = BYTES_PER_DOCUMENT + Math.max(result.bytes, query.length * BYTES_PER_CHARACTER);
      this.#valid?.set(key, result, { size });
    }
    return result;
  }

  /** The cached result for a query text; undefined: there is none. */
  find(query: string): CachedDocument | InvalidDocument | undefined {
    const { maxLength, onLookup } = this.#options;
    const refusal = refusalOf(query, maxLength);
    if (refusal) {
      onLookup?.('invalid');
      return refusal;
    }
    const key = hash('sha256', query);
    const valid = this.#valid?.get(key);
    if (valid) {
      onLookup?.('hit');
      return valid;
    }
    const invalid = this.#invalid?.get(key);
    if (invalid) onLookup?.('invalid');
    return invalid;
  }

  #read(key: string, query: string): CachedDocument | InvalidDocument {
    const { hasLocations = false } = this.#options;
    let document: DocumentNode;
    try {
      document = this.#parse(query, hasLocations);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return { errors: formatted([error], 'GRAPHQL_PARSE_FAILED') };
    }
    if (this.#validate(document).length === 0) {
      if (!hasLocations) compactDocument(document, this.#names);
      return { key, document, bytes: documentWeight(document), operations: new Map() };
    }
    // Locations cost memory and time, so by default only invalid documents are parsed with them.
    return { errors: formatted(this.#validate(this.#parse(query, true)), 'GRAPHQL_VALIDATION_FAILED') };
  }

  #parse(query: string, hasLocations: boolean): DocumentNode {
    const { maxTokens, maxLength } = this.#options;
    return parse(query, {
      noLocation: !hasLocations,
      maxLexicalTokens: maxTokens,
      maxComments: maxTokens,
      maxSourceLength: maxLength,
    });
  }

  #validate(document: DocumentNode): readonly GraphQLError[] {
    const exceeded = checkLimits(document, this.#limits);
    if (exceeded.length > 0) return exceeded;
    const maxSelections = this.#limits.maxFields * SELECTIONS_PER_FIELD;
    const { isTrivial, pairs } = fieldOverlap(this.#schema, document, maxSelections);
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

/** Refuses a query text before it is hashed or cached. */
function refusalOf(query: string, maxLength: number): InvalidDocument | undefined {
  let message: string | undefined;
  // Despite its type a query may be an object: it comes from a client's JSON.
  if (typeof query !== 'string') message = 'The query must be text.';
  else if (query.length > maxLength) message = `The query is longer than ${maxLength} characters.`;
  // All lone surrogates have the same UTF-8 bytes, and so the same hash.
  else if (/\p{Surrogate}/u.test(query)) message = 'The query is not well-formed Unicode.';
  return message === undefined
    ? undefined
    : { errors: formatted([clientError('GRAPHQL_PARSE_FAILED', message)], 'GRAPHQL_PARSE_FAILED') };
}

function formatted(errors: readonly GraphQLError[], code: ErrorCode): GraphQLFormattedError[] {
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
