import { hash } from 'node:crypto';
import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { clientError } from '../../base/errors.ts';
import type { CachedDocument, InvalidDocument } from './cached-document.ts';
import { DocumentReader, TRUSTED_LIMITS, formatted } from './document-reader.ts';
import type { DocumentReaderOptions, ReadingLimits } from './document-reader.ts';
import type { Operation, ValidDocument } from './operation.ts';

export interface DocumentCacheOptions extends ReadingLimits, DocumentReaderOptions {
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
 * Parses and validates each query text once, unless it keeps no entries. Invalid documents have a cache of their own, so that garbage does not evict documents in
 * use.
 */
export class DocumentCache {
  readonly #options: DocumentCacheOptions;
  readonly #reader: DocumentReader;
  /** undefined: it keeps no entries. */
  readonly #valid: LRUCache<string, CachedDocument> | undefined;
  readonly #invalid: LRUCache<string, InvalidDocument> | undefined;

  constructor(schema: GraphQLSchema, options: DocumentCacheOptions) {
    this.#options = options;
    this.#reader = new DocumentReader(schema, options);
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

  /** @param isTrusted true: the limits are those of trusted documents */
  get(query: string, isTrusted = false): CachedDocument | InvalidDocument {
    const known = this.find(query, isTrusted);
    if (known) return known;
    const { onLookup } = this.#options;
    const key = cacheKey(query, isTrusted);
    const result = this.#reader.read(query, isTrusted ? TRUSTED_LIMITS : this.#options);
    if ('errors' in result) {
      onLookup?.('invalid');
      this.#invalid?.set(key, result);
      return result;
    }
    onLookup?.('miss');
    const document = { ...result, operations: new Map() };
    const size = BYTES_PER_DOCUMENT + Math.max(result.bytes, query.length * BYTES_PER_CHARACTER);
    this.#valid?.set(key, document, { size });
    return document;
  }

  /** The cached result for a query text; undefined: there is none. */
  find(query: string, isTrusted = false): CachedDocument | InvalidDocument | undefined {
    const { maxLength, onLookup } = this.#options;
    const refusal = refusalOf(query, isTrusted ? Infinity : maxLength);
    if (refusal) {
      onLookup?.('invalid');
      return refusal;
    }
    const key = cacheKey(query, isTrusted);
    const valid = this.#valid?.get(key);
    if (valid) {
      onLookup?.('hit');
      return valid;
    }
    const invalid = this.#invalid?.get(key);
    if (invalid) onLookup?.('invalid');
    return invalid;
  }

  /** Validates the document of an operation of another schema. It is not cached: its text is not known. */
  reread({ key, document, documentBytes: bytes }: Operation): ValidDocument | InvalidDocument {
    return this.#reader.reread({ key, document, bytes });
  }

  /** The cached valid document whose text has this SHA-256, in hex; undefined: there is none, or it was read as a trusted one. */
  recall(key: string): CachedDocument | undefined {
    const document = this.#valid?.get(key);
    // A client's key may be that of a trusted document, which is found by its id only.
    if (document?.key !== key) return undefined;
    this.#options.onLookup?.('hit');
    return document;
  }

  /** The cached valid document whose text has this SHA-256, for an operator: it counts as no use. */
  peek(key: string): CachedDocument | undefined {
    return this.#valid?.peek(key) ?? this.#valid?.peek(trustedKey(key));
  }
}

/** Limits differ, so a text that is trusted and was not before, or the other way round, is read again. */
function cacheKey(query: string, isTrusted: boolean): string {
  const key = hash('sha256', query);
  return isTrusted ? trustedKey(key) : key;
}

function trustedKey(key: string): string {
  return `trusted ${key}`;
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
