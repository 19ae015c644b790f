import { errorOf } from '../../base/errors.ts';
import { withTimeout } from '../../base/with-timeout.ts';
import type { GlueClient, SchemaVersion } from './glue-client.ts';
import { RequestPauses } from './request-pauses.ts';
import { MissingRegistryError, UnusableSchemaError } from './schema-errors.ts';
import { SCHEMA_TYPES } from './schema-registry.ts';
import type { RegisteredSchema, SchemaType } from './schema-registry.ts';
import type { GlueId } from './wire-format.ts';

export interface GlueRegistryOptions {
  /** Called at the first schema, and again after it has thrown. */
  readonly load: () => GlueClient;
  /** Longest wait for one answer. */
  readonly timeoutMs: number;
}

/** Answers that say of an id that it is none: they are the same for each request. */
const UNKNOWN: readonly string[] = ['EntityNotFoundException', 'InvalidInputException'];
/** https://docs.aws.amazon.com/glue/latest/webapi/CommonErrors.html */
const REFUSED =
  /^(AccessDenied|ExpiredToken|IncompleteSignature|InvalidClientTokenId|InvalidSignature|MissingAuthenticationToken|NotAuthorized|OptInRequired|UnrecognizedClient)/;
/** Time for which region and credentials that are missing are not looked for again. */
const MISSING_MS = 30_000;
/** A name of AWS's SDK. */
const NO_CREDENTIALS = 'CredentialsProviderError';
/** A message of AWS's SDK. */
const NO_REGION = 'Region is missing';
const RIGHT = 'glue:GetSchemaVersion';
/** Characters of Glue's own message that an error repeats. */
const MAX_MESSAGE_LENGTH = 200;

/** Reads schemas from the schema registry of AWS Glue. It follows no references, because Glue has none. */
export class GlueRegistry {
  readonly #options: GlueRegistryOptions;
  readonly #pauses = new RequestPauses();
  /** One request for each id at a time. */
  readonly #running = new Map<GlueId, Promise<RegisteredSchema | undefined>>();
  #client: GlueClient | undefined;
  /** The client, once it has region and credentials. Looking for them may take longer than one request may. */
  #ready: Promise<GlueClient> | undefined;
  /** When a failed `#ready` is tried again. */
  #readyUntil = Infinity;
  /** True after an answer for any id: so Glue is set up, and what fails may be right later. */
  #hasAnswered = false;
  #problem: string | undefined;

  constructor(options: GlueRegistryOptions) {
    this.#options = options;
  }

  /**
   * undefined: Glue does not know the id.
   * @throws SchemaUnavailableError, UnusableSchemaError as a rejection; MissingRegistryError if AWS is not set up: the package may be there for
   * another purpose, and records may only look like those of Glue
   */
  schema(id: GlueId): Promise<RegisteredSchema | undefined> {
    let running = this.#running.get(id);
    if (!running) {
      running = this.#schema(id).finally(() => this.#running.delete(id));
      this.#running.set(id, running);
    }
    return running;
  }

  /** Why the last request failed, after those that run; undefined: it did not, or AWS is not set up. */
  async problem(): Promise<string | undefined> {
    await Promise.allSettled(this.#running.values());
    return this.#problem;
  }

  /** Idempotent. */
  close(): void {
    this.#client?.close();
  }

  async #schema(id: GlueId): Promise<RegisteredSchema | undefined> {
    this.#pauses.check(id);
    const answer = await this.#ask(id);
    this.#pauses.end(id);
    this.#problem = undefined;
    this.#hasAnswered = true;
    if (!answer) return undefined;
    const { SchemaDefinition: text = '', DataFormat: type } = answer;
    if (!SCHEMA_TYPES.includes(type)) throw new UnusableSchemaError(`its format is ${JSON.stringify(type)}`);
    return { type: type as SchemaType, text, references: [] };
  }

  async #ask(id: GlueId): Promise<SchemaVersion | undefined> {
    const { timeoutMs } = this.#options;
    const deadline = new AbortController();
    const timeout = () => {
      deadline.abort();
      return new Error(`has not answered within ${timeoutMs} ms`);
    };
    try {
      const request = async () => (await this.#setUp()).schemaVersion(id.slice('glue/'.length), deadline.signal);
      return await withTimeout(request, timeoutMs, timeout);
    } catch (error) {
      if (UNKNOWN.includes(errorOf(error).name)) return undefined;
      const problem = `AWS Glue ${meaningOf(errorOf(error), deadline.signal.aborted)}`;
      const isMissing = this.#isMissing(error);
      this.#problem = isMissing ? undefined : problem;
      if (isMissing) throw new MissingRegistryError(problem);
      throw this.#pauses.begin(id, problem);
    }
  }

  #setUp(): Promise<GlueClient> {
    if (performance.now() >= this.#readyUntil) this.#ready = undefined;
    if (!this.#ready) {
      this.#readyUntil = Infinity;
      this.#ready = this.#open();
      this.#ready.catch((error: unknown) => {
        this.#readyUntil = performance.now() + (this.#isMissing(error) ? MISSING_MS : 0);
      });
    }
    return this.#ready;
  }

  async #open(): Promise<GlueClient> {
    const client = (this.#client ??= this.#options.load());
    await client.setUp();
    return client;
  }

  /** True if there is no package that can be loaded, no region or no credentials, and never were. */
  #isMissing(error: unknown): boolean {
    if (this.#hasAnswered) return false;
    const { name, message } = errorOf(error);
    return this.#client === undefined || name === NO_CREDENTIALS || message === NO_REGION;
  }
}

/** An error of AWS's SDK. */
interface GlueError extends NodeJS.ErrnoException {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** What failed, and how to mend it. */
function meaningOf({ name, message, code, $metadata }: GlueError, isSilent: boolean): string {
  const status = $metadata?.httpStatusCode;
  if (isSilent) return message;
  const said = JSON.stringify(message.slice(0, MAX_MESSAGE_LENGTH));
  if (REFUSED.test(name)) return `refuses the credentials of AWS (${name}: ${said}); allow ${RIGHT}, or correct them`;
  if (name === 'SyntaxError') return `answers like another server (status ${status}); correct AWS_ENDPOINT_URL_GLUE`;
  if (status !== undefined) return `answers with ${name}: ${said}`;
  if (name === NO_CREDENTIALS)
    return `is not asked: ${message}; give the worker credentials of AWS that allow ${RIGHT}`;
  if (message === NO_REGION) return `is not asked: ${message}; set AWS_REGION`;
  if (code === undefined) return `is not asked: ${message}`;
  return `cannot be reached: ${code}; correct AWS_REGION or AWS_ENDPOINT_URL_GLUE`;
}
