import { Buffer } from 'node:buffer';
import { Agent, buildConnector, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { SecureContext } from 'node:tls';
import { certificateFix } from '../../base/certificate-fix.ts';
import { errorOf } from '../../base/errors.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import { RequestPauses } from './request-pauses.ts';
import { UnusableSchemaError } from './schema-errors.ts';

export interface RegistryAccess {
  /** http:// or https:// URLs, at least one; they may have a user, a password or both. */
  readonly urls: readonly string[];
  /** A bearer token for each request, instead of a user. @throws Error if there is none now */
  readonly token?: (() => Promise<string>) | undefined;
  /** Further headers of each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For each new connection; undefined: that of Node. */
  readonly secureContext?: (() => SecureContext | undefined) | undefined;
  /** Longest wait for one answer. */
  readonly timeoutMs: number;
  readonly names: SettingNames;
  /** Ends what keeps token and certificates fresh. */
  readonly close?: () => void;
}

/** The largest answer. Schemas of the largest code bases have about 100 KB. */
const MAX_ANSWER_BYTES = 4_194_304;
const TOO_LARGE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
const MAX_SOCKETS = 4;
const ACCEPT = 'application/vnd.schemaregistry.v1+json, application/json, */*;q=0.5';
/** Subject, version or schema not found. */
const NOT_FOUND_CODES: readonly unknown[] = [40401, 40402, 40403];
/** Of Apicurio's own API. */
const NOT_FOUND_NAME = /NotFoundException$/;
const APICURIO_PATH = /\/apis\/ccompat\/v\d+$/;
/** Characters of a registry's own message that an error repeats. */
const MAX_MESSAGE_LENGTH = 200;

interface Endpoint {
  /** Without credentials, and without a slash at its end. */
  readonly url: string;
  /** The URL of Apicurio's own API beside Confluent's; undefined: it is no Apicurio. */
  readonly apicurioUrl: string | undefined;
  readonly authorization: string | undefined;
}

/** A request by one of the APIs. */
interface Question {
  readonly api: 'url' | 'apicurioUrl';
  readonly path: string;
}

/** What the registry answered to a path instead of an answer. The message never holds credentials. */
class RequestFailure extends Error {}

/**
 * Requests to a schema registry. The URLs are tried in turn, beginning with the one that answered last. After a request that none answered
 * the path has a pause.
 */
export class RegistryRequests {
  /** True if each URL is that of an Apicurio. */
  readonly isApicurio: boolean;
  readonly #endpoints: readonly Endpoint[];
  readonly #access: RegistryAccess;
  readonly #agent: Agent;
  /** By path. */
  readonly #pauses = new RequestPauses();
  #current = 0;

  constructor(access: RegistryAccess) {
    const { urls, timeoutMs, secureContext } = access;
    this.#endpoints = urls.map((url) => endpointOf(url));
    this.isApicurio = this.#endpoints.every(({ apicurioUrl }) => apicurioUrl !== undefined);
    this.#access = access;
    this.#agent = new Agent({
      connections: MAX_SOCKETS,
      connect: secureContext ? connectorOf(secureContext, timeoutMs) : { timeout: timeoutMs },
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  /** The JSON of an answer; undefined: the registry has no such thing. @throws SchemaUnavailableError, UnusableSchemaError */
  async get(path: string): Promise<unknown> {
    const text = await this.#get({ api: 'url', path });
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** The text of an answer of Apicurio's own API; undefined: the registry has no such thing. @throws as `get` */
  getText(path: string): Promise<string | undefined> {
    return this.#get({ api: 'apicurioUrl', path });
  }

  async #get(question: Question): Promise<string | undefined> {
    const { path } = question;
    this.#pauses.check(path);
    for (let attempt = 1; ; attempt++) {
      const endpoint = this.#endpoints[this.#current]!;
      try {
        const answer = await this.#ask(endpoint, question);
        this.#pauses.end(path);
        return answer;
      } catch (error) {
        if (error instanceof UnusableSchemaError) throw error;
        this.#current = (this.#current + 1) % this.#endpoints.length;
        if (attempt < this.#endpoints.length) continue;
        const reason = `the schema registry ${endpoint[question.api]} ${this.#describe(errorOf(error), endpoint.url, path)}`;
        throw this.#pauses.begin(path, reason);
      }
    }
  }

  /** Ends the requests. Idempotent. */
  async close(): Promise<void> {
    this.#access.close?.();
    await this.#agent.destroy();
  }

  async #ask(endpoint: Endpoint, { api, path }: Question): Promise<string | undefined> {
    const { timeoutMs } = this.#access;
    const url = endpoint[api]!;
    const headers = await this.#headersFor(endpoint);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const options = { dispatcher: this.#agent, signal: deadline.signal, headers };
      const { statusCode, body } = await request(`${url}${path}`, options);
      const text = await (statusCode === 200 ? schemaText(body, url, path) : body.text());
      const json = parsed(text);
      if (statusCode === 200 && (api === 'apicurioUrl' || json !== undefined)) return text;
      const { error_code: code, message, name } = Object(json) as Readonly<Record<string, unknown>>;
      // A 404 without such a code or name comes from something else than a registry.
      if (statusCode === 404 && (NOT_FOUND_CODES.includes(code) || NOT_FOUND_NAME.test(String(name)))) return undefined;
      const details = typeof message === 'string' ? `: ${JSON.stringify(message.slice(0, MAX_MESSAGE_LENGTH))}` : '';
      throw new RequestFailure(statusMeaning(statusCode, path, details, this.#access));
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws RequestFailure without a token */
  async #headersFor({ authorization }: Endpoint): Promise<Record<string, string>> {
    const { token, headers, names } = this.#access;
    const common = { accept: ACCEPT, ...headers };
    if (!token) return { ...common, ...(authorization !== undefined && { authorization }) };
    try {
      return { ...common, authorization: `Bearer ${await token()}` };
    } catch (error) {
      throw new RequestFailure(
        `is not asked: ${errorOf(error).message}; correct ${names.SCHEMA_REGISTRY_TOKEN_PROVIDER}`,
      );
    }
  }

  #describe(error: Error, url: string, path: string): string {
    if (error instanceof RequestFailure) return error.message;
    const { timeoutMs, names } = this.#access;
    if (error.name === 'AbortError') return `has not answered ${path} within ${timeoutMs} ms`;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === TOO_LARGE) return tooLarge(path);
    const fix = connectionFix(`${code} ${message}`, url.startsWith('https:'), names);
    return `cannot be reached: ${code ?? message}; ${fix || `correct ${names.SCHEMA_REGISTRY_URL}, or the network`}`;
  }
}

function endpointOf(text: string): Endpoint {
  const url = new URL(text);
  const login = [url.username, url.password].map(decodeURIComponent).join(':');
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  return {
    url: base,
    apicurioUrl: APICURIO_PATH.test(base) ? base.replace(APICURIO_PATH, '/apis/registry/v2') : undefined,
    authorization: login === ':' ? undefined : `Basic ${Buffer.from(login).toString('base64')}`,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws UnusableSchemaError if it is too large: another request would have the same answer */
async function schemaText(body: Dispatcher.ResponseData['body'], url: string, path: string): Promise<string> {
  try {
    return await body.text();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== TOO_LARGE) throw error;
    throw new UnusableSchemaError(`the schema registry ${url} ${tooLarge(path)}`);
  }
}

function tooLarge(path: string): string {
  return `answers ${path} with more than ${MAX_ANSWER_BYTES} bytes`;
}

function statusMeaning(status: number, path: string, details: string, { names, token }: RegistryAccess): string {
  if (status === 401 || status === 403) {
    const [what, fix] = token
      ? ['the token', `${names.SCHEMA_REGISTRY_TOKEN_PROVIDER}, or the rights of its identity`]
      : ['the credentials', `user and password of ${names.SCHEMA_REGISTRY_URL}`];
    return `refuses ${what} (status ${status}); correct ${fix}`;
  }
  if (status === 404 && path.startsWith('/schemas/guids/'))
    return `has no schemas by GUID (status 404): it is none of Confluent's, or too old; have the producer write its schema's id into the value, or say format: JSON if the values are JSON`;
  if (status === 200 || (status >= 300 && status < 500 && status !== 429))
    return `answers like no schema registry (status ${status}); correct ${names.SCHEMA_REGISTRY_URL}: Apicurio's ends in /apis/ccompat/v7`;
  return `answers ${path} with status ${status}${details || '; its log says why'}`;
}

/** Ended by the other side, which need not say why. */
const CLOSED = /^(UND_ERR_SOCKET|ECONNRESET)\b/;
/** A TLS alert about the client certificate, or the lack of one. */
const ALERT = /alert[\w ]* (certificate|unknown ca)|_ALERT_(\w*CERTIFICATE|UNKNOWN_CA)/i;

function connectionFix(reason: string, isTls: boolean, names: SettingNames): string {
  if (isTls && (ALERT.test(reason) || CLOSED.test(reason)))
    return `if the registry wants a client certificate, correct ${names.SCHEMA_REGISTRY_TLS_CERT_FILE} and ${names.SCHEMA_REGISTRY_TLS_KEY_FILE}`;
  if (isTls && /WRONG_VERSION|PACKET_LENGTH/.test(reason))
    return `the registry does not use TLS: write http:// in ${names.SCHEMA_REGISTRY_URL}`;
  return certificateFix(reason, 'the registry', names.SCHEMA_REGISTRY_URL, names.SCHEMA_REGISTRY_TLS_CA_FILE);
}

/** undici keeps the options of a connector, and the certificates may change. */
function connectorOf(secureContext: () => SecureContext | undefined, timeout: number): buildConnector.connector {
  return (options, callback) => {
    const context = secureContext();
    buildConnector({ timeout, ...(context && { secureContext: context }) })(options, callback);
  };
}
