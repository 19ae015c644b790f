import type { Redis } from 'ioredis';
import type { Config } from '../../config/config.ts';
import { tlsOf } from '../../config/service-tls.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import { CredentialHook } from '../../base/credential-hook.ts';
import type { Logger } from '../../base/log.ts';
import { TlsFiles } from '../../base/tls-files.ts';
import { WatchedFile } from '../../base/watched-file.ts';
import { replyFailure } from '../publish-failure.ts';

export type RedisAccessConfig = Pick<
  Config,
  | 'REDIS_USERNAME'
  | 'REDIS_PASSWORD'
  | 'REDIS_CREDENTIALS'
  | 'REDIS_TLS_CA_FILE'
  | 'REDIS_TLS_CERT_FILE'
  | 'REDIS_TLS_KEY_FILE'
  | 'REDIS_TLS_KEY_PASSPHRASE'
  | 'secretFiles'
  | 'names'
>;

interface Login {
  readonly username: string | undefined;
  readonly password: string;
}

const MAX_PASSWORD_BYTES = 65_536;

/**
 * How crier identifies itself to Redis, and whom it trusts: user, password and TLS files, which may change while the server runs.
 *
 * New connections use the present ones. Open connections keep their certificates, and authenticate again when user or password change, so
 * that a server that ends connections with their token keeps them.
 */
export class RedisAccess {
  /** What messages call the settings. */
  readonly names: SettingNames;
  readonly #log: Logger;
  readonly #username: string | undefined;
  readonly #tls: TlsFiles | undefined;
  readonly #passwordFile: WatchedFile<string> | undefined;
  readonly #hook: CredentialHook | undefined;
  /** What each does when user or password change. */
  readonly #clients = new Map<Redis, () => void>();
  /** undefined: REDIS_URL has it, or Redis needs none. */
  #login: Login | undefined;

  private constructor(config: RedisAccessConfig, log: Logger) {
    const username = config.REDIS_USERNAME || undefined;
    const path = config.secretFiles.get('REDIS_PASSWORD');
    this.names = config.names;
    this.#log = log;
    this.#username = username;
    this.#tls = this.#tlsOf(config);
    if (config.REDIS_PASSWORD !== '') this.#login = { username, password: config.REDIS_PASSWORD };
    if (path !== undefined) {
      this.#passwordFile = new WatchedFile({ path, maxBytes: MAX_PASSWORD_BYTES, parse: parsePassword });
    }
    if (config.REDIS_CREDENTIALS !== '') {
      this.#hook = new CredentialHook({
        ...{ setting: config.names.REDIS_CREDENTIALS, path: config.REDIS_CREDENTIALS, log },
        onChange: (credentials) => this.#change({ ...credentials, username: credentials.username ?? username }),
      });
    }
  }

  /**
   * Reads the files and calls the hook once.
   * @throws ConfigError naming the setting; without secrets
   */
  static async open(config: RedisAccessConfig, log: Logger): Promise<RedisAccess> {
    const access = new RedisAccess(config, log);
    await access.#tls?.read();
    await access.#passwordFile?.read();
    const credentials = await access.#hook?.read();
    if (credentials) access.#login = { ...credentials, username: credentials.username ?? access.#username };
    return access;
  }

  /** From now on files that change and credentials that expire are replaced. */
  watch(): void {
    this.#tls?.watch();
    this.#passwordFile?.watch(() => this.#onPasswordFile());
    this.#hook?.watch();
  }

  close(): Promise<void> {
    this.#tls?.close();
    this.#passwordFile?.close();
    this.#hook?.close();
    return Promise.resolve();
  }

  /**
   * Gives the client user, password and TLS files, now and whenever they change.
   * @param client not connected yet
   * @param renew called in place of AUTH, for a client that cannot authenticate again
   * @returns ends that
   */
  attach(client: Redis, renew: () => void = () => this.#authenticate(client)): () => void {
    let login = this.#login;
    const onConnecting = () => (login = this.#login);
    const onReady = () => {
      if (login !== this.#login) renew();
    };
    client.on('connecting', onConnecting).on('ready', onReady);
    this.#clients.set(client, renew);
    this.#equip(client);
    return () => {
      this.#clients.delete(client);
      client.off('connecting', onConnecting).off('ready', onReady);
    };
  }

  /** ioredis reads its options at each attempt to connect. */
  #equip({ options }: Redis): void {
    if (this.#login) Object.assign(options, { username: this.#login.username, password: this.#login.password });
    const secureContext = this.#tls?.context;
    if (!secureContext) return;
    if (options.tls) options.tls = { ...options.tls, secureContext };
    if (options.sentinelTLS) options.sentinelTLS = { ...options.sentinelTLS, secureContext };
  }

  #change(login: Login): void {
    // A hook may return a token that it has cached.
    if (login.username === this.#login?.username && login.password === this.#login?.password) return;
    this.#login = login;
    this.#log.info('user or password of Redis have changed: connections use the new ones');
    for (const [client, renew] of this.#clients) {
      this.#equip(client);
      renew();
    }
  }

  #authenticate(client: Redis): void {
    if (!this.#login || client.status !== 'ready') return;
    const { username, password } = this.#login;
    const reply = username === undefined ? client.auth(password) : client.auth(username, password);
    reply.catch((error: Error) => {
      // A lost link authenticates at its next attempt.
      if (error.name !== 'ReplyError') return;
      const server = `${client.options.host}:${client.options.port}`;
      const reason = replyFailure(error.message);
      this.#log.warn({ server, reason }, 'an open connection could not use the new user and password of Redis');
    });
  }

  #onPasswordFile(): void {
    const { value, failure } = this.#passwordFile!;
    if (failure) {
      this.#log.warn({ reason: failure.message }, 'REDIS_PASSWORD_FILE cannot be used: the last password stays in use');
    } else if (value !== undefined) {
      this.#change({ username: this.#username, password: value });
    }
  }

  #tlsOf(config: RedisAccessConfig): TlsFiles | undefined {
    const { REDIS_TLS_CA_FILE: authorities, REDIS_TLS_CERT_FILE: certificate, REDIS_TLS_KEY_FILE: key } = config;
    if (authorities === '' && certificate === '' && key === '') return undefined;
    return new TlsFiles({ ...tlsOf('REDIS', config), onChange: (refusal) => this.#onTlsFiles(refusal) });
  }

  #onTlsFiles(refusal: string | undefined): void {
    if (refusal !== undefined) {
      this.#log.warn({ reason: refusal }, 'the TLS files of Redis cannot be used: the last good ones stay in use');
      return;
    }
    for (const client of this.#clients.keys()) this.#equip(client);
    this.#log.info('the TLS files of Redis have changed: new connections use them');
  }
}

/** As `readSecretFile` does at the start. */
function parsePassword(text: string): string {
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new Error('it is empty');
  return password;
}
