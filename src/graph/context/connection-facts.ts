import { parseFrozen } from '../../base/json/frozen.ts';
import { weightOf } from '../../base/json/weight.ts';

/** Of the token of a connection, or what the graph's `authenticate` returned instead: plain JSON data, frozen. */
export type Claims = Readonly<Record<string, unknown>>;

/** Parameters of `connection_init` that may hold a token, in the order in which they are looked at. */
export const TOKEN_PARAMETERS: readonly string[] = ['token', 'authorization', 'Authorization'];

/** Names of claims that differ between two tokens which grant the same (RFC 7519 section 4.1). */
export const CLAIMS_OF_ONE_TOKEN: readonly string[] = ['exp', 'iat', 'nbf', 'jti'];

/** Everything that may differ between two connections. Frozen; read by executions only through `ExecutionContext.connection`. */
export interface ConnectionFacts {
  readonly id: string;
  /** Of the upgrade or HTTP request. Names are in lower case; values of repeated names are joined by ", ", but `authorization` is the first. */
  readonly headers: Readonly<Record<string, string>>;
  /** Payload of `connection_init`; `{}` if it had none. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly claims: Claims;
  /** IP address of the client, as far as proxies are trusted. */
  readonly address: string;
}

/** The facts of a connection before `authenticate` has returned its claims: these are the token's, `{}` without one. */
export type ConnectionRequest = ConnectionFacts;

export interface RequestSource {
  readonly id: string;
  /** Names and values alternate, as in `IncomingMessage.rawHeaders`. */
  readonly rawHeaders: readonly string[];
  /** Payload of `connection_init`; null and undefined count as `{}`. */
  readonly params: unknown;
  readonly address: string;
}

/** Levels of nested objects and arrays that params and claims may have. */
const MAX_DEPTH = 32;

const EMPTY: Readonly<Record<string, unknown>> = Object.freeze({});
const EMPTY_TEXT = '{}';

/**
 * The argument of `authenticate`.
 * @param claims of the token
 * @throws TypeError when the params or claims are not an object or are nested deeper than 32 levels.
 */
export function createRequest(source: RequestSource, claims: unknown = EMPTY): ConnectionRequest {
  const { id, rawHeaders, params, address } = source;
  return new Facts(id, address, headersText(rawHeaders), paramsText(params), plainClaims(claims));
}

/**
 * The facts of a connection with these claims instead of its own.
 * @param kept headers and params instead of its own
 * @throws TypeError when the claims are not a plain JSON object or are nested deeper than 32 levels.
 */
export function createFacts(
  facts: ConnectionFacts,
  claims: unknown,
  kept?: Pick<RequestSource, 'rawHeaders' | 'params'>,
): ConnectionFacts {
  return Facts.of(facts, claims, kept);
}

/** Estimated memory that facts keep, in bytes. */
export function weightOfFacts(facts: ConnectionFacts): number {
  return Facts.weightOf(facts);
}

/** Length of the headers and params that new facts keep as text, in bytes; 0 once both were read. */
export function keptTextBytes(facts: ConnectionFacts): number {
  return Facts.textBytes(facts);
}

/** Headers and params are kept as JSON text until they are first read: as objects they take up to 20 times the memory. */
class Facts implements ConnectionFacts {
  readonly id: string;
  readonly address: string;
  readonly claims: Claims;
  #headers: string | ConnectionFacts['headers'];
  #params: string | ConnectionFacts['params'];

  constructor(id: string, address: string, headers: string, params: string, claims: Claims) {
    this.id = id;
    this.address = address;
    this.claims = claims;
    this.#headers = headers;
    this.#params = params === EMPTY_TEXT ? EMPTY : params;
    Object.freeze(this);
  }

  static of(
    facts: ConnectionFacts,
    claims: unknown,
    kept: Pick<RequestSource, 'rawHeaders' | 'params'> | undefined,
  ): ConnectionFacts {
    if (!(#headers in facts)) throw new TypeError('not the facts of a connection');
    const plain = claims === facts.claims ? facts.claims : plainClaims(claims);
    const headers = kept ? headersText(kept.rawHeaders) : textOf(facts.#headers);
    const params = kept ? paramsText(kept.params) : textOf(facts.#params);
    return new Facts(facts.id, facts.address, headers, params, plain);
  }

  static weightOf(facts: ConnectionFacts): number {
    if (!(#headers in facts)) return 0;
    return weightOf(facts.claims) + weightOf(facts.#headers) + weightOf(facts.#params);
  }

  static textBytes(facts: ConnectionFacts): number {
    if (!(#headers in facts)) return 0;
    return [facts.#headers, facts.#params].reduce<number>(
      (bytes, text) => bytes + (typeof text === 'string' ? Buffer.byteLength(text) : 0),
      0,
    );
  }

  get headers(): ConnectionFacts['headers'] {
    if (typeof this.#headers === 'string') this.#headers = parseFrozen(this.#headers) as ConnectionFacts['headers'];
    return this.#headers;
  }

  get params(): ConnectionFacts['params'] {
    if (typeof this.#params === 'string') this.#params = parseFrozen(this.#params) as ConnectionFacts['params'];
    return this.#params;
  }
}

function textOf(value: string | object): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function headersText(raw: readonly string[]): string {
  const headers = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const earlier = headers.get(name);
    // `tokenOf` verifies the first one. A backend must not receive another.
    if (name === 'authorization' && earlier !== undefined) continue;
    headers.set(name, earlier === undefined ? raw[i + 1]! : `${earlier}, ${raw[i + 1]!}`);
  }
  // fromEntries defines own properties, so a header named __proto__ is only a header.
  return JSON.stringify(Object.fromEntries(headers));
}

function paramsText(params: unknown): string {
  return objectText(params ?? EMPTY, 'connection_init payload');
}

/** A frozen copy of claims as JSON keeps it. All empty ones are the same object. */
function plainClaims(claims: unknown): Readonly<Record<string, unknown>> {
  const text = objectText(claims, 'claims');
  return text === EMPTY_TEXT ? EMPTY : (parseFrozen(text) as Record<string, unknown>);
}

/** The JSON text of an object. */
function objectText(value: unknown, what: string): string {
  if (isDeeper(value, MAX_DEPTH)) throw new TypeError(`${what}: nested deeper than ${MAX_DEPTH} levels`);
  const text = JSON.stringify(value) ?? 'null';
  if (text.startsWith('{')) return text;
  throw new TypeError(`${what}: expected an object of plain JSON data, got ${describe(JSON.parse(text))}`);
}

function describe(value: unknown): string {
  if (value === null) return 'nothing that JSON can hold';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
