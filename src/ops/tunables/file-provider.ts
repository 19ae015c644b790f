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
import { jsonKind, parseJsonObject } from '../../base/json/json-object.ts';
import { WatchedFile } from '../../base/watched-file.ts';
import type { FileFailure } from '../../base/watched-file.ts';

/** A larger file is no file of settings. */
const MAX_FILE_BYTES = 65_536;

/**
 * An OpenFeature provider over a JSON object in a file: its keys are the flags. A file that is bad or missing leaves the values as they
 * are.
 */
export class FileProvider implements Provider {
  readonly metadata = { name: 'file' };
  readonly runsOn = 'server';
  readonly events = new OpenFeatureEventEmitter();
  readonly path: string;
  readonly #file: WatchedFile<ReadonlyMap<string, unknown>>;

  constructor(path: string, intervalMs?: number) {
    this.path = path;
    this.#file = new WatchedFile({
      path,
      maxBytes: MAX_FILE_BYTES,
      parse: (text) => new Map(Object.entries(parseJsonObject(text))),
      intervalMs,
    });
  }

  get state(): 'read' | FileFailure['state'] {
    return this.#file.failure?.state ?? 'read';
  }

  get keys(): readonly string[] {
    return [...(this.#file.value?.keys() ?? [])];
  }

  /** @throws ParseError or GeneralError for a bad or missing file; it is read again nevertheless. */
  async initialize(): Promise<void> {
    await this.#file.read();
    this.#file.watch(this.#onChange);
    if (this.#file.failure) throw errorOf(this.#file.failure);
  }

  onClose(): Promise<void> {
    this.#file.close();
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
    const { value: values } = this.#file;
    if (!values?.has(name)) return Promise.reject(new FlagNotFoundError(`${this.path} has no ${name}`));
    const value = values.get(name);
    if (typeof value !== type) return Promise.reject(new TypeMismatchError(`got ${jsonKind(value)}`));
    return Promise.resolve({ value: value as T, reason: StandardResolutionReasons.STATIC });
  }

  readonly #onChange = (before: FileFailure | undefined): void => {
    const { failure } = this.#file;
    if (failure) {
      const { state, message } = failure;
      if (state === 'missing') this.events.emit(ProviderEvents.Stale, { message });
      else this.events.emit(ProviderEvents.Error, { message, errorCode: ErrorCode.PARSE_ERROR });
      return;
    }
    // Ready ends the state that Stale or Error began.
    if (before) this.events.emit(ProviderEvents.Ready, {});
    this.events.emit(ProviderEvents.ConfigurationChanged, {});
  };
}

function errorOf({ state, message }: FileFailure): Error {
  return state === 'missing' ? new GeneralError(message) : new ParseError(message);
}
