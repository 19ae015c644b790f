import { parseJsonObject } from '../../base/json/json-object.ts';
import type { Logger } from '../../base/log.ts';
import { WatchedFile } from '../../base/watched-file.ts';
import type { FileFailure } from '../../base/watched-file.ts';
import type { Config } from '../../config/config.ts';
import { bounds } from '../../config/contradictions.ts';
import { tunableNames, variables } from '../../config/variables.ts';
import type { TunableName } from '../../config/variables.ts';
import { ignoredKeys } from './ignored-keys.ts';
import type { IgnoredKey } from './ignored-keys.ts';
import { parseTunable, pickTunables } from './tunable-values.ts';
import type { TunableValues, TunablesRegistry } from './tunables-registry.ts';

/** A larger file is no file of settings. */
const MAX_FILE_BYTES = 65_536;

export interface TunablesOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Settings that change nothing in this pod, each with the reason: the file does not change them. Default: none. */
  readonly idle?: ReadonlyMap<TunableName, string>;
  /** Interval in ms at which TUNABLES_FILE is read. Default: 2000. */
  readonly pollIntervalMs?: number;
}

export interface TunablesReport {
  /** `rejected`: a value or a pair of values is refused. */
  readonly file: { readonly path: string; readonly state: 'read' | 'rejected' | FileFailure['state'] } | null;
  readonly rejected: number;
  readonly lastError: { readonly at: string; readonly message: string } | null;
  readonly ignored: readonly string[];
  readonly tunables: readonly {
    readonly name: TunableName;
    readonly value: TunableValues[TunableName];
    readonly source: 'file' | 'environment' | 'default';
    readonly unit: string;
    readonly meaning: string;
    /** Why the setting changes nothing in this pod. */
    readonly idle?: string;
  }[];
}

/**
 * Settings that change while the server runs, by TUNABLES_FILE: a JSON object whose keys are their names. The file is never read on the
 * path of an event: components read `values`, or have a function called with each new value. A change is accepted as a whole or not at
 * all; a file that is bad or missing changes nothing.
 */
export class Tunables implements TunablesRegistry {
  readonly values: Readonly<TunableValues>;
  readonly #config: Config;
  readonly #log: Logger;
  readonly #file: WatchedFile<ReadonlyMap<string, unknown>> | undefined;
  readonly #values: TunableValues;
  readonly #idle: ReadonlyMap<TunableName, string>;
  #provided: ReadonlySet<TunableName> = new Set();
  readonly #listeners = new Map<TunableName, ((value: never) => void)[]>();
  #rejected = 0;
  #isRejected = false;
  #lastError: TunablesReport['lastError'] = null;

  constructor({ config, log, idle = new Map(), pollIntervalMs }: TunablesOptions) {
    this.#config = config;
    this.#log = log;
    this.#values = pickTunables(config);
    this.#idle = idle;
    this.values = this.#values;
    if (config.TUNABLES_FILE === '') return;
    this.#file = new WatchedFile({
      path: config.TUNABLES_FILE,
      maxBytes: MAX_FILE_BYTES,
      parse: (text) => new Map(Object.entries(parseJsonObject(text))),
      intervalMs: pollIntervalMs,
    });
  }

  /** Changes that were not accepted, since the start. */
  get rejected(): number {
    return this.#rejected;
  }

  /** True while the file is not accepted, so that earlier values apply. */
  get isRejected(): boolean {
    return this.#isRejected;
  }

  /** Resolves when the values of the file are in use. A bad or missing file is logged. */
  async start(): Promise<this> {
    if (!this.#file) return this;
    await this.#file.read();
    this.#onFile();
    this.#file.watch(() => this.#onFile());
    return this;
  }

  /** Idempotent, safe before the start. */
  close(): Promise<void> {
    this.#file?.close();
    return Promise.resolve();
  }

  bind<Name extends TunableName>(name: Name, apply: (value: TunableValues[Name]) => void): void {
    const listeners = this.#listeners.get(name) ?? [];
    this.#listeners.set(name, [...listeners, apply]);
    apply(this.#values[name]);
  }

  /** Values that are numbers, for metrics. */
  *numbers(): Generator<{ labels: { name: string }; value: number }> {
    for (const name of tunableNames) {
      const value = this.#values[name];
      if (typeof value === 'number') yield { labels: { name }, value };
    }
  }

  /** Keys of the file that change nothing. */
  get ignored(): readonly IgnoredKey[] {
    return ignoredKeys([...(this.#file?.value?.keys() ?? [])], this.#idle);
  }

  /** The body of `/debug/tunables`. */
  report(): TunablesReport {
    const state = this.#file?.failure?.state ?? (this.#isRejected ? 'rejected' : 'read');
    return {
      file: this.#file ? { path: this.#file.path, state } : null,
      rejected: this.#rejected,
      lastError: this.#lastError,
      ignored: this.ignored.map(({ message }) => message),
      tunables: tunableNames.map((name) => ({
        name,
        value: this.#values[name],
        source: this.#source(name),
        unit: variables[name].unit,
        meaning: variables[name].meaning,
        ...(this.#idle.has(name) && { idle: this.#idle.get(name)! }),
      })),
    };
  }

  #source(name: TunableName): TunablesReport['tunables'][number]['source'] {
    if (this.#provided.has(name)) return 'file';
    return this.#config.given.has(name) ? 'environment' : 'default';
  }

  /** Uses what the last reading found. */
  #onFile(): void {
    const { value: given, failure } = this.#file!;
    if (failure?.state === 'missing') {
      this.#lastError = { at: new Date().toISOString(), message: failure.message };
      this.#log.warn({ reason: failure.message }, 'the tunables cannot be read; the settings stay as they are');
    } else if (failure) this.#reject(failure.message);
    else if (given) this.#evaluate(given);
  }

  #reject(message: string): void {
    this.#rejected++;
    this.#isRejected = true;
    this.#lastError = { at: new Date().toISOString(), message };
    this.#log.error({ reason: message }, 'the tunables are rejected; all settings stay as they are');
  }

  #evaluate(given: ReadonlyMap<string, unknown>): void {
    const problems: string[] = [];
    const values = pickTunables(this.#config);
    const provided = tunableNames.filter((name) => given.has(name) && !this.#idle.has(name));
    for (const name of provided) {
      const result = parseTunable(name, given.get(name), this.#config[name]);
      if (typeof result === 'string') problems.push(result);
      else Object.assign(values, { [name]: result.value });
    }
    if (problems.length === 0) problems.push(...bounds({ ...this.#config, ...values }));
    if (problems.length > 0) return this.#reject(problems.join('\n'));
    this.#isRejected = false;
    this.#provided = new Set(provided);
    const ignored = this.ignored.map(({ message }) => message);
    if (ignored.length > 0) this.#log.warn({ ignored }, 'keys of the tunables file that change nothing');
    for (const name of tunableNames) if (values[name] !== this.#values[name]) this.#apply(name, values[name]);
  }

  #apply(name: TunableName, to: TunableValues[TunableName]): void {
    const from = this.#values[name];
    const write = () => this.#log.info({ setting: name, from, to, source: this.#source(name) }, 'a setting changed');
    // A change of LOG_LEVEL is logged at the level before or after it, whichever shows the line.
    const isShown = this.#log.isLevelEnabled('info');
    if (isShown) write();
    Object.assign(this.#values, { [name]: to });
    for (const apply of this.#listeners.get(name) ?? []) apply(to as never);
    if (!isShown) write();
  }
}
