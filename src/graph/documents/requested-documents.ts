import { hash } from 'node:crypto';
import { clientError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { CachedDocument, InvalidDocument } from './cached-document.ts';
import type { DocumentCache } from './document-cache.ts';
import { bareId } from './document-manifest.ts';
import type { DocumentRequest } from './document-request.ts';
import { Operation } from './operation.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

/** Why a request has no document, as a metric label. */
export type DocumentRefusal = 'unknown' | 'mismatch';

export interface RequestedDocumentsOptions {
  readonly cache: DocumentCache;
  /** undefined: there is no manifest. */
  readonly trusted?: Pick<TrustedDocuments, 'textOf'> | undefined;
  /** True: no other document is run. */
  readonly isTrustRequired?: boolean;
  /** Automatic persisted queries: a cached document may be requested by the SHA-256 of its text. */
  readonly hasAutomatic?: boolean;
  readonly onRefusal?: (reason: DocumentRefusal) => void;
  /** Called for each document that is not trusted while there is a manifest. */
  readonly onUntrusted?: () => void;
}

/** A text to parse and to validate. */
interface Source {
  readonly text: string;
  readonly isTrusted: boolean;
}

interface Refused {
  readonly reason: DocumentRefusal;
  readonly document: InvalidDocument;
}

// Clients look for these messages: Apollo's for the message or the code, urql for the message.
const NOT_FOUND = refused('unknown', 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
const NOT_SUPPORTED = refused('unknown', 'PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
const NOT_TRUSTED = refused(
  'unknown',
  'PERSISTED_QUERY_NOT_FOUND',
  'Only documents of the manifest TRUSTED_DOCUMENTS are run, and this is none of them',
);
const MISMATCH = refused('mismatch', 'PERSISTED_QUERY_MISMATCH', 'provided sha does not match query');

/**
 * Finds the document of a request: a trusted one by its id or its text, an automatic persisted query by the SHA-256 of its text, any other
 * by its text. A refusal parses and compiles nothing.
 */
export class RequestedDocuments {
  readonly #options: RequestedDocumentsOptions;

  constructor(options: RequestedDocumentsOptions) {
    this.#options = options;
  }

  /** The cached result for a request, or a refusal; undefined: its document must be read. */
  find(request: DocumentRequest): CachedDocument | InvalidDocument | undefined {
    const source = this.#sourceOf(request);
    if (!('text' in source)) return this.#answer(source);
    const known = this.#options.cache.find(source.text, source.isTrusted);
    if (known) this.#countUntrusted(source);
    return known;
  }

  /** Takes some ms if the document is not cached. */
  get(request: DocumentRequest): CachedDocument | InvalidDocument {
    const source = this.#sourceOf(request);
    if (!('text' in source)) return this.#answer(source);
    this.#countUntrusted(source);
    return this.#options.cache.get(source.text, source.isTrusted);
  }

  /** The operation of another schema, if its document is valid against the schema of these documents, too. Takes some ms. */
  adopt(operation: Operation): Operation | InvalidDocument {
    const document = this.#options.cache.reread(operation);
    return 'errors' in document ? document : new Operation(document, operation.definition, operation.payer);
  }

  /** A text that comes with the id of a trusted document is not read: Apollo's link for WebSockets always sends one. */
  #sourceOf({ query, id }: DocumentRequest): Source | CachedDocument | Refused {
    const { cache, trusted, isTrustRequired, hasAutomatic } = this.#options;
    const trustedText = id === undefined ? undefined : trusted?.textOf(id);
    if (trustedText !== undefined) return { text: trustedText, isTrusted: true };
    if (id !== undefined && query === '') {
      if (hasAutomatic) return cache.recall(bareId(id)) ?? NOT_FOUND;
      return trusted ? NOT_FOUND : NOT_SUPPORTED;
    }
    const equal = trusted?.textOf(hash('sha256', query));
    if (equal !== undefined) return { text: equal, isTrusted: true };
    if (isTrustRequired) return id === undefined ? NOT_TRUSTED : NOT_FOUND;
    if (hasAutomatic && id !== undefined && bareId(id) !== hash('sha256', query)) return MISMATCH;
    return { text: query, isTrusted: false };
  }

  #answer(found: CachedDocument | Refused): CachedDocument | InvalidDocument {
    const { trusted, onRefusal, onUntrusted } = this.#options;
    if (trusted) onUntrusted?.();
    if (!('reason' in found)) return found;
    onRefusal?.(found.reason);
    return found.document;
  }

  #countUntrusted({ isTrusted }: Source): void {
    if (!isTrusted && this.#options.trusted) this.#options.onUntrusted?.();
  }
}

function refused(reason: DocumentRefusal, code: ErrorCode, message: string): Refused {
  return { reason, document: { errors: [clientError(code, message).toJSON()] } };
}
