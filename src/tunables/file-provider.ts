import { readFile, stat } from 'node:fs/promises';
import {
  ErrorCode,
  FlagNotFoundError,
  GeneralError,
  OpenFeatureEventEmitter,
  ParseError,
  ProviderEvents,
  StandardResolutionReasons,
  TypeMismatchError,
} from '@openfeature/server-sdk';
import type { JsonValue, Provider, ResolutionDetails } from '@openfeature/server-sdk';

/** Why the file gives no values. `missing`: there is no file; `bad`: it cannot be read, or is not a JSON object. */
interface Failure {
  readonly state: 'missing' | 'bad';
  readonly message: string;
}

/** A larger file is no file of settings. */
const MAX_FILE_BYTES = 65_536;
const POLL_INTERVAL_MS = 2000;

/**
 * An OpenFeature provider over a JSON object in a file: its keys are the flags. A file that is bad or missing leaves the values as they
 * are.
 *
 * It reads the file every 2 s and compares the text. Kubernetes replaces a symbolic link of a directory above the file, editors rename
 * another file over it, and network file systems send no events: only the text says reliably that something changed.
 */
export class FileProvider implements Provider {
  readonly metadata = { name: 'file' };
  readonly runsOn = 'server';
  readonly events = new OpenFeatureEventEmitter();
  readonly path: string;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Text of the last good file. */
  #text = '{}';
  #values: ReadonlyMap<string, unknown> = new Map();
  #failure: Failure | undefined;

  constructor(path: string, intervalMs = POLL_INTERVAL_MS) {
    this.path = path;
    this.#intervalMs = intervalMs;
  }

  get state(): 'read' | Failure['state'] {
    return this.#failure?.state ?? 'read';
  }

  get keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** @throws ParseError or GeneralError for a bad or missing file; it is read again nevertheless. */
  async initialize(): Promise<void> {
    await this.#read();
    this.#schedule();
    if (this.#failure) throw errorOf(this.#failure);
  }

  onClose(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    return Promise.resolve();
  }

  resolveBooleanEvaluation(name: string): Promise<ResolutionDetails<boolean>> {
    return this.#resolve(name, 'boolean');
  }

  resolveStringEvaluation(name: string): Promise<ResolutionDetails<string>> {
    return this.#resolve(name, 'string');
  }

  resolveNumberEvaluation(name: string): Promise<ResolutionDetails<number>> {
    return this.#resolve(name, 'number');
  }

  resolveObjectEvaluation<T extends JsonValue>(name: string): Promise<ResolutionDetails<T>> {
    return this.#resolve(name, 'object');
  }

  #resolve<T>(name: string, type: string): Promise<ResolutionDetails<T>> {
    if (!this.#values.has(name)) return Promise.reject(new FlagNotFoundError(`${this.path} has no ${name}`));
    const value = this.#values.get(name);
    if (typeof value !== type) return Promise.reject(new TypeMismatchError(`got ${describe(value)}`));
    return Promise.resolve({ value: value as T, reason: StandardResolutionReasons.STATIC });
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#poll(), this.#intervalMs).unref();
  }

  async #poll(): Promise<void> {
    const failed = this.#failure;
    const text = this.#text;
    await this.#read();
    if (this.#isClosed) return;
    const failure = this.#failure;
    if (failure && failure.message !== failed?.message) {
      const { message } = failure;
      if (failure.state === 'missing') this.events.emit(ProviderEvents.Stale, { message });
      else this.events.emit(ProviderEvents.Error, { message, errorCode: ErrorCode.PARSE_ERROR });
    }
    // Ready ends the state that Stale or Error began.
    if (failed && !failure) this.events.emit(ProviderEvents.Ready, {});
    if (!failure && (failed || this.#text !== text)) this.events.emit(ProviderEvents.ConfigurationChanged, {});
    this.#schedule();
  }

  async #read(): Promise<void> {
    const { path } = this;
    try {
      const text = await readText(path);
      if (text !== this.#text) this.#values = new Map(Object.entries(parse(text)));
      this.#text = text;
      this.#failure = undefined;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
      this.#failure = isMissing
        ? { state: 'missing', message: `there is no file ${path}` }
        : { state: 'bad', message: `${path}: ${code === 'EACCES' ? 'this user may not read it' : (code ?? message)}` };
    }
  }
}

async function readText(path: string): Promise<string> {
  const stats = await stat(path);
  if (!stats.isFile()) throw new Error('not a file');
  if (stats.size > MAX_FILE_BYTES) throw new Error(`${stats.size} bytes, and at most ${MAX_FILE_BYTES} are read`);
  return readFile(path, 'utf8');
}

/** The message of a failure names a position and no text: the file may be the wrong one. */
function parse(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const line = position && text.slice(0, Number(position)).split('\n').length;
    throw new Error(line ? `not JSON, in line ${line}` : 'not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`expected a JSON object, got ${describe(value)}`);
  }
  return value;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function errorOf({ state, message }: Failure): Error {
  return state === 'missing' ? new GeneralError(message) : new ParseError(message);
}
