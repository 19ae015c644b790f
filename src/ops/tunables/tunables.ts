import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ErrorCode, NOOP_PROVIDER, OpenFeature, ProviderEvents, ProviderStatus } from '@openfeature/server-sdk';
import type { Client, EventDetails } from '@openfeature/server-sdk';
import type { Config } from '../../config/config.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { bounds } from '../../config/contradictions.ts';
import { tunableNames, variables } from '../../config/variables.ts';
import { FileProvider } from './file-provider.ts';
import { idleTunables } from './idle-tunables.ts';
import { ignoredKeys } from './ignored-keys.ts';
import type { IgnoredKey } from './ignored-keys.ts';
import { evaluateSetting } from './setting-evaluation.ts';
import type { Evaluated } from './setting-evaluation.ts';
import { pickTunables } from './tunable-values.ts';
import type { TunableName, TunableValues } from './tunable-values.ts';

/** The OpenFeature domain for which a graph, or a program that embeds crier, may set a provider. TUNABLES_FILE has precedence. */
export const DOMAIN = 'crier';
const LOG_WINDOW_MS = 10_000;

export interface TunablesOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Interval in ms at which TUNABLES_FILE is read. Default: 2000. */
  readonly pollIntervalMs?: number;
}

export interface TunablesReport {
  /** Its name. */
  readonly provider: string;
  /** `rejected`: a value or a pair of values is refused. */
  readonly file: { readonly path: string; readonly state: FileProvider['state'] | 'rejected' } | null;
  readonly rejected: number;
  readonly lastError: { readonly at: string; readonly message: string } | null;
  readonly ignored: readonly string[];
  readonly tunables: readonly {
    readonly name: TunableName;
    readonly value: TunableValues[TunableName];
    /** `environment`, `default`, or the provider's name. */
    readonly source: string;
    readonly unit: string;
    readonly meaning: string;
    /** Why the setting changes nothing in this pod. */
    readonly idle?: string;
  }[];
}

interface Change {
  readonly name: TunableName;
  readonly from: TunableValues[TunableName];
  readonly to: TunableValues[TunableName];
}

/**
 * Settings that change while the server runs. OpenFeature is asked when its provider says that something changed, never on the path of an
 * event: components read `values`, or have a function called with each new value. A change is accepted as a whole or not at all.
 *
 * OpenFeature's API is global to the process, and two servers can run in one: each file has a domain of its own.
 */
export class Tunables {
  /** Replaced in place at each change. */
  readonly values: Readonly<TunableValues>;
  readonly #config: Config;
  readonly #log: Logger;
  readonly #file: FileProvider | undefined;
  readonly #domain: string;
  readonly #client: Client;
  readonly #values: TunableValues;
  /** Settings that change nothing in this pod, each with the reason. The provider is not asked for them. */
  readonly #idle: ReadonlyMap<string, string>;
  readonly #provided = new Set<TunableName>();
  readonly #listeners = new Map<TunableName, ((value: never) => void)[]>();
  #rejected = 0;
  #isRejected = false;
  #lastError: TunablesReport['lastError'] = null;
  #evaluating: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;

  constructor({ config, log, pollIntervalMs }: TunablesOptions) {
    this.#config = config;
    this.#log = log;
    this.#values = pickTunables(config);
    this.#idle = idleTunables(config);
    this.values = this.#values;
    this.#file = config.TUNABLES_FILE === '' ? undefined : new FileProvider(config.TUNABLES_FILE, pollIntervalMs);
    this.#domain = this.#file ? `${DOMAIN}-${randomUUID()}` : DOMAIN;
    this.#client = OpenFeature.getClient(this.#domain, { targetingKey: hostname(), role: config.ROLE });
    const window = new LogWindow(LOG_WINDOW_MS);
    const warn = (...parts: unknown[]) =>
      window.run('OpenFeature', (suppressed) =>
        log.warn({ reason: parts.map(String).join(' '), suppressed }, 'OpenFeature failed'),
      );
    this.#client.setLogger({ error: warn, warn, info: () => undefined, debug: () => undefined });
  }

  /** Changes that were not accepted, since the start. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Resolves when the values of the provider are in use, if it is ready. A bad or missing file is logged. */
  async start(): Promise<this> {
    if (this.#file) {
      await OpenFeature.setProviderAndWait(this.#domain, this.#file).catch((error: Error & { code?: string }) =>
        this.#onTrouble(error.message, error.code === ErrorCode.PARSE_ERROR),
      );
    }
    await this.#evaluate();
    for (const event of [ProviderEvents.Ready, ProviderEvents.ConfigurationChanged] as const) {
      this.#client.addHandler(event, this.#onChange);
    }
    for (const event of [ProviderEvents.Error, ProviderEvents.Stale] as const) {
      this.#client.addHandler(event, this.#onEvent);
    }
    return this;
  }

  /** Idempotent, safe before the start. */
  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    for (const event of [ProviderEvents.Ready, ProviderEvents.ConfigurationChanged] as const) {
      this.#client.removeHandler(event, this.#onChange);
    }
    for (const event of [ProviderEvents.Error, ProviderEvents.Stale] as const) {
      this.#client.removeHandler(event, this.#onEvent);
    }
    // OpenFeature has no way to remove a domain; this ends the reading of the file.
    if (this.#file) OpenFeature.setProvider(this.#domain, NOOP_PROVIDER);
    return Promise.resolve();
  }

  /** Calls `apply` with the value now and after each change. */
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
    return ignoredKeys(this.#file?.keys ?? [], this.#idle);
  }

  /** The body of `/debug/tunables`. */
  report(): TunablesReport {
    const state = this.#file?.state === 'read' && this.#isRejected ? 'rejected' : this.#file?.state;
    return {
      provider: this.#client.metadata.providerMetadata.name,
      file: this.#file && state ? { path: this.#file.path, state } : null,
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

  #source(name: TunableName): string {
    if (this.#provided.has(name)) return this.#client.metadata.providerMetadata.name;
    return this.#config.given.has(name) ? 'environment' : 'default';
  }

  readonly #onChange = (): void => void this.#evaluate();

  readonly #onEvent = (details?: EventDetails): void => {
    // A handler that is added while the provider is in this state is called without a message; `start` has reported it.
    if (details?.message === undefined) return;
    this.#onTrouble(details.message, 'errorCode' in details && details.errorCode === ErrorCode.PARSE_ERROR);
  };

  #onTrouble(message: string, isRejection: boolean): void {
    if (isRejection) return this.#reject(message);
    this.#lastError = { at: new Date().toISOString(), message };
    this.#log.warn({ reason: message }, 'the tunables cannot be read; the settings stay as they are');
  }

  #reject(message: string): void {
    this.#rejected++;
    this.#isRejected = true;
    this.#lastError = { at: new Date().toISOString(), message };
    this.#log.error({ reason: message }, 'the tunables are rejected; all settings stay as they are');
  }

  /** Asks the provider for all values. A call during an evaluation begins another one after it. */
  #evaluate(): Promise<void> {
    this.#isStale = true;
    this.#evaluating ??= this.#evaluateUntilCurrent().finally(() => (this.#evaluating = undefined));
    return this.#evaluating;
  }

  async #evaluateUntilCurrent(): Promise<void> {
    while (this.#isStale && !this.#isClosed) {
      // OpenFeature says that a provider is ready before it asks that provider.
      await Promise.resolve();
      this.#isStale = false;
      if (this.#client.providerStatus === ProviderStatus.NOT_READY) return;
      const problems: string[] = [];
      const evaluated = new Map<TunableName, Evaluated>();
      for (const name of tunableNames.filter((one) => !this.#idle.has(one))) {
        const result = await evaluateSetting(this.#client, name, this.#config[name]);
        if (typeof result === 'string') problems.push(result);
        else evaluated.set(name, result);
      }
      if (this.#isStale || this.#isClosed) continue;
      const values = Object.fromEntries(Array.from(evaluated, ([name, { value }]) => [name, value]));
      if (problems.length === 0) problems.push(...bounds({ ...this.#config, ...values }));
      if (problems.length > 0) this.#reject(problems.join('\n'));
      else this.#accept(evaluated);
    }
  }

  #accept(evaluated: ReadonlyMap<TunableName, Evaluated>): void {
    this.#isRejected = false;
    this.#provided.clear();
    const changes: Change[] = [];
    for (const [name, { value, isProvided }] of evaluated) {
      if (isProvided) this.#provided.add(name);
      if (value !== this.#values[name]) changes.push({ name, from: this.#values[name], to: value });
    }
    const ignored = this.ignored.map(({ message }) => message);
    if (ignored.length > 0) this.#log.warn({ ignored }, 'keys of the tunables file that change nothing');
    for (const change of changes) this.#apply(change);
  }

  #apply({ name, from, to }: Change): void {
    const write = () => this.#log.info({ setting: name, from, to, source: this.#source(name) }, 'a setting changed');
    // A change of LOG_LEVEL is logged at the level before or after it, whichever shows the line.
    const isShown = this.#log.isLevelEnabled('info');
    if (isShown) write();
    Object.assign(this.#values, { [name]: to });
    for (const apply of this.#listeners.get(name) ?? []) apply(to as never);
    if (!isShown) write();
  }
}
