import type { SecureContext } from 'node:tls';
import type { Config } from '../../../config/config.ts';
import { SetupError } from '../../../base/errors.ts';
import { LogWindow } from '../../../base/log.ts';
import type { Logger } from '../../../base/log.ts';
import { secretNow } from '../../../config/settings.ts';
import type { SettingsSource } from '../../../config/settings.ts';
import { tlsOf } from '../../../config/service-tls.ts';
import { TlsFiles } from '../../../base/tls-files.ts';
import { TokenSource, loadTokenProvider } from '../../../base/token-source.ts';
import type { TokenProvider } from '../../../base/token-source.ts';
import { requireKnownKafkajs } from '../patches/known-version.ts';

/** How to reach the brokers, and as whom. */
export type KafkaConnectionConfig = SettingsSource &
  Pick<
    Config,
    | 'KAFKA_BROKERS'
    | 'KAFKA_TLS'
    | 'KAFKA_TLS_CA_FILE'
    | 'KAFKA_TLS_CERT_FILE'
    | 'KAFKA_TLS_KEY_FILE'
    | 'KAFKA_TLS_KEY_PASSPHRASE'
    | 'KAFKA_SASL_MECHANISM'
    | 'KAFKA_SASL_USERNAME'
    | 'KAFKA_SASL_PASSWORD'
    | 'KAFKA_SASL_TOKEN_PROVIDER'
  >;

const LOG_WINDOW_MS = 60_000;

/**
 * The brokers, certificates, password and token of all Kafka clients with one configuration. Each new connection, and each login that a broker asks
 * for again, uses what the files and the token provider say then: none of them needs a restart.
 */
export class KafkaAccess {
  static readonly #byConfig = new WeakMap<KafkaConnectionConfig, KafkaAccess>();

  readonly #config: KafkaConnectionConfig;
  readonly #tls: TlsFiles;
  readonly #tokens: TokenSource;
  readonly #stale = new LogWindow(LOG_WINDOW_MS);
  #provider: Promise<TokenProvider> | undefined;
  /** `host:port`, in the order in which a new client asks them. */
  #brokers: readonly string[];

  private constructor(config: KafkaConnectionConfig) {
    requireKnownKafkajs();
    this.#config = config;
    this.#brokers = config.KAFKA_BROKERS;
    this.#tls = new TlsFiles(tlsOf('KAFKA', config));
    this.#tokens = new TokenSource({ load: () => (this.#provider ??= loadProvider(config)) });
  }

  /** The access of all clients with this configuration. @throws SetupError if the installed version of kafkajs is unknown */
  static of(config: KafkaConnectionConfig): KafkaAccess {
    const access = this.#byConfig.get(config) ?? new KafkaAccess(config);
    this.#byConfig.set(config, access);
    return access;
  }

  /**
   * For a server: tokens are replaced before they expire, until `close`.
   * @throws SetupError if the token provider cannot be loaded
   */
  async open(log: Logger): Promise<void> {
    if (this.#config.KAFKA_SASL_MECHANISM !== 'oauthbearer') return;
    this.#provider = loadProvider(this.#config);
    await this.#provider;
    this.#tokens.keepFresh((error, expiresAt) => {
      const expires = new Date(expiresAt).toISOString();
      log.warn(
        { err: { message: error.message }, expires },
        'Kafka: no new token; the present one is used until it expires',
      );
    });
  }

  /** `host:port`: kafkajs asks the next one only when it has given up on the one before, and each client begins with the first. */
  get brokers(): readonly string[] {
    return this.#brokers;
  }

  /** The broker has not answered: the next clients ask it last. */
  demote(broker: string): void {
    if (!this.#brokers.includes(broker)) return;
    this.#brokers = [...this.#brokers.filter((other) => other !== broker), broker];
  }

  /** undefined: without TLS. @throws Error if the files were never usable */
  secureContext(log: Logger): SecureContext | undefined {
    if (!this.#config.KAFKA_TLS) return undefined;
    const message = this.#tls.renew();
    const { context } = this.#tls;
    if (message === undefined) return context;
    if (!context) throw new Error(message);
    this.#stale.run('tls', (suppressed) =>
      log.warn(
        { err: { message }, suppressed },
        'Kafka: the TLS files cannot be used; new connections use the former ones',
      ),
    );
    return context;
  }

  /** @throws Error if a file cannot be read now */
  login(): { readonly username: string; readonly password: string } {
    return {
      username: secretNow(this.#config, 'KAFKA_SASL_USERNAME'),
      password: secretNow(this.#config, 'KAFKA_SASL_PASSWORD'),
    };
  }

  /** @throws Error if the token provider fails and no token is valid */
  token(): Promise<string> {
    return this.#tokens.token();
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#tokens.close();
    return Promise.resolve();
  }
}

/** @throws SetupError */
function loadProvider({ KAFKA_SASL_TOKEN_PROVIDER: path, names }: KafkaConnectionConfig): Promise<TokenProvider> {
  return loadTokenProvider(path, names.KAFKA_SASL_TOKEN_PROVIDER, SetupError);
}
