import { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import { certificateFix } from '../../base/certificate-fix.ts';
import { errorOf } from '../../base/errors.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import { SchemaUnavailableError, UnusableSchemaError } from './schema-errors.ts';

export interface RegistryAccess {
  /** http:// or https:// URLs, at least one; they may have a user and a password. */
  readonly urls: readonly string[];
  /** '': the user of the URL, or none. */
  readonly user: string;
  readonly password: string;
  /** Longest wait for one answer. */
  readonly timeoutMs: number;
  readonly names: SettingNames;
}

/** The largest answer. Schemas of the largest code bases have about 100 KB. */
const MAX_ANSWER_BYTES = 4_194_304;
const TOO_LARGE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
const MAX_SOCKETS = 4;
const ACCEPT = 'application/vnd.schemaregistry.v1+json, application/json';
/** Subject, version or schema not found. */
const NOT_FOUND_CODES: readonly unknown[] = [40401, 40402, 40403];
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
const MAX_PAUSES = 1000;
/** Characters of a registry's own message that an error repeats. */
const MAX_MESSAGE_LENGTH = 200;

interface Endpoint {
  /** Without credentials, and without a slash at its end. */
  readonly url: string;
  readonly authorization: string | undefined;
}

/** What the registry answered to a path instead of an answer. The message never holds credentials. */
class RequestFailure extends Error {}

/** Time in which requests for one path fail at once. */
interface Pause {
  readonly until: number;
  /** Of the path, one after the other. */
  readonly failures: number;
  readonly reason: string;
}

/**
 * Requests to a schema registry. The URLs are tried in turn, beginning with the one that answered last. After a request that none answered
 * there is a pause, during which requests for the same path fail at once: 250 ms, then twice the last one up to 5 s, less up to a half at
 * random. A registry may fail for one schema alone, so other paths are asked for meanwhile.
 */
export class RegistryRequests {
  readonly #endpoints: readonly Endpoint[];
  readonly #timeoutMs: number;
  readonly #names: SettingNames;
  readonly #agent: Agent;
  /** By path. */
  readonly #pauses = new LRUCache<string, Pause>({ max: MAX_PAUSES });
  #current = 0;

  constructor({ urls, user, password, timeoutMs, names }: RegistryAccess) {
    this.#endpoints = urls.map((url) => endpointOf(url, user, password));
    this.#timeoutMs = timeoutMs;
    this.#names = names;
    this.#agent = new Agent({
      connections: MAX_SOCKETS,
      connect: { timeout: timeoutMs },
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  /** The JSON of an answer; undefined: the registry has no such thing. @throws SchemaUnavailableError, UnusableSchemaError */
  async get(path: string): Promise<unknown> {
    const pause = this.#pauses.get(path);
    if (pause && performance.now() < pause.until) throw new SchemaUnavailableError(pause.reason);
    for (let attempt = 1; ; attempt++) {
      const endpoint = this.#endpoints[this.#current]!;
      try {
        const answer = await this.#ask(endpoint, path);
        this.#pauses.delete(path);
        return answer;
      } catch (error) {
        if (error instanceof UnusableSchemaError) throw error;
        this.#current = (this.#current + 1) % this.#endpoints.length;
        if (attempt < this.#endpoints.length) continue;
        const reason = `the schema registry ${endpoint.url} ${this.#describe(errorOf(error), path)}`;
        this.#pause(path, reason, pause?.failures ?? 0);
        throw new SchemaUnavailableError(reason);
      }
    }
  }

  /** Ends the requests. Idempotent. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #pause(path: string, reason: string, failures: number): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
    this.#pauses.set(path, { until: performance.now() + pauseMs, failures: failures + 1, reason });
  }

  async #ask({ url, authorization }: Endpoint, path: string): Promise<unknown> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#timeoutMs);
    try {
      const { statusCode, body } = await request(`${url}${path}`, {
        dispatcher: this.#agent,
        signal: deadline.signal,
        headers: { accept: ACCEPT, ...(authorization !== undefined && { authorization }) },
      });
      const json = parsed(await (statusCode === 200 ? schemaText(body, url, path) : body.text()));
      if (statusCode === 200 && json !== undefined) return json;
      const { error_code: code, message } = Object(json) as {
        readonly error_code?: unknown;
        readonly message?: unknown;
      };
      // A 404 without such a code comes from something else than a registry.
      if (statusCode === 404 && NOT_FOUND_CODES.includes(code)) return undefined;
      const details = typeof message === 'string' ? `: ${JSON.stringify(message.slice(0, MAX_MESSAGE_LENGTH))}` : '';
      throw new RequestFailure(statusMeaning(statusCode, path, details, this.#names));
    } finally {
      clearTimeout(timer);
    }
  }

  #describe(error: Error, path: string): string {
    if (error instanceof RequestFailure) return error.message;
    if (error.name === 'AbortError') return `has not answered ${path} within ${this.#timeoutMs} ms`;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === TOO_LARGE) return tooLarge(path);
    const fix = certificateFix(message, 'the registry', this.#names.SCHEMA_REGISTRY_URL);
    return `cannot be reached: ${code ?? message}${fix && `; ${fix}`}`;
  }
}

function endpointOf(text: string, user: string, password: string): Endpoint {
  const url = new URL(text);
  const name = user || decodeURIComponent(url.username);
  const secret = user ? password : decodeURIComponent(url.password);
  const credentials = Buffer.from(`${name}:${secret}`).toString('base64');
  return {
    url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''),
    authorization: name === '' ? undefined : `Basic ${credentials}`,
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

function statusMeaning(status: number, path: string, details: string, names: SettingNames): string {
  if (status === 401 || status === 403)
    return `refuses the credentials (status ${status}); correct ${names.SCHEMA_REGISTRY_USER} and ${names.SCHEMA_REGISTRY_PASSWORD}`;
  if (status === 200 || (status >= 300 && status < 500 && status !== 429))
    return `answers like no schema registry (status ${status}); correct ${names.SCHEMA_REGISTRY_URL}: Apicurio's ends in /apis/ccompat/v7`;
  return `answers ${path} with status ${status}${details}`;
}
