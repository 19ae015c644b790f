import { parseFrozen } from '../json/frozen.ts';

/** Of the token of a connection, or what the graph's `authenticate` returned instead: plain JSON data, frozen. */
export type Claims = Readonly<Record<string, unknown>>;

/** Everything that may differ between two connections. Frozen; read by executions only through `ExecutionContext.connection`. */
export interface ConnectionFacts {
  readonly id: string;
  /** Of the upgrade or HTTP request. Names are in lower case; values of repeated names are joined by ", ". */
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

/**
 * The argument of `authenticate`.
 * @param claims of the token
 * @throws TypeError when the params or claims are not an object or are nested deeper than 32 levels.
 */
export function createRequest(source: RequestSource, claims: unknown = EMPTY): ConnectionRequest {
  return new Facts(new Request(source), plainObject(claims, 'claims'));
}

/**
 * The facts of a connection with these claims instead of its own.
 * @throws TypeError when the claims are not a plain JSON object or are nested deeper than 32 levels.
 */
export function createFacts(facts: ConnectionFacts, claims: unknown): ConnectionFacts {
  return facts.claims === claims ? facts : Facts.of(facts, claims);
}

/** Headers are kept as one JSON string, and also as an object from their first read on. */
class Request {
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly address: string;
  readonly #rawHeaders: string;
  #headers: Readonly<Record<string, string>> | undefined;

  constructor({ id, rawHeaders, params, address }: RequestSource) {
    this.id = id;
    this.params = plainObject(params ?? EMPTY, 'connection_init payload');
    this.address = address;
    this.#rawHeaders = JSON.stringify(rawHeaders);
    Object.freeze(this);
  }

  get headers(): Readonly<Record<string, string>> {
    return (this.#headers ??= parseHeaders(this.#rawHeaders));
  }
}

class Facts implements ConnectionFacts {
  readonly claims: Claims;
  readonly #request: Request;

  constructor(request: Request, claims: Claims) {
    this.claims = claims;
    this.#request = request;
    Object.freeze(this);
  }

  static of(facts: ConnectionFacts, claims: unknown): ConnectionFacts {
    if (!(#request in facts)) throw new TypeError('not the facts of a connection');
    return new Facts(facts.#request, plainObject(claims, 'claims'));
  }

  get id(): string {
    return this.#request.id;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#request.headers;
  }

  get params(): Readonly<Record<string, unknown>> {
    return this.#request.params;
  }

  get address(): string {
    return this.#request.address;
  }
}

function parseHeaders(text: string): Readonly<Record<string, string>> {
  const raw = JSON.parse(text) as string[];
  const headers = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? raw[i + 1]! : `${earlier}, ${raw[i + 1]!}`);
  }
  // fromEntries defines own properties, so a header named __proto__ is only a header.
  return Object.freeze(Object.fromEntries(headers));
}

/** A frozen copy of an object as JSON keeps it. All empty ones are the same object. */
function plainObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isDeeper(value, MAX_DEPTH)) throw new TypeError(`${what}: nested deeper than ${MAX_DEPTH} levels`);
  const plain = parseFrozen(JSON.stringify(value) ?? 'null');
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
    throw new TypeError(`${what}: expected an object of plain JSON data, got ${describe(plain)}`);
  }
  return Object.keys(plain).length === 0 ? EMPTY : (plain as Record<string, unknown>);
}

function describe(value: unknown): string {
  if (value === null) return 'nothing that JSON can hold';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
