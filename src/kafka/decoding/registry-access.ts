import type { Config } from '../../config/config.ts';
import type { SchemaRegistrySettings } from '../../config/schema-registry-problems.ts';
import { ConfigError } from '../../base/errors.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { TlsFiles } from '../../base/tls-files.ts';
import { TokenSource, loadTokenProvider } from '../../base/token-source.ts';
import { RegistryRequests } from './registry-requests.ts';

type RegistryConfig = SchemaRegistrySettings & Pick<Config, 'SCHEMA_REGISTRY_TIMEOUT_MS'>;

const LOG_WINDOW_MS = 60_000;

/**
 * Requests to the schema registry of the settings. Tokens are replaced before they expire, and certificates when their files change, until
 * the requests are closed.
 * @throws ConfigError if certificates or the token provider cannot be loaded
 */
export async function openRegistryRequests(config: RegistryConfig, log: Logger): Promise<RegistryRequests> {
  const tls = await openTlsFiles(config, log);
  try {
    const tokens = await openTokens(config, log);
    return new RegistryRequests({
      urls: config.SCHEMA_REGISTRY_URL,
      token: tokens && (() => tokens.token()),
      headers: Object.fromEntries(config.SCHEMA_REGISTRY_HEADERS.map(headerOf)),
      secureContext: tls && (() => tls.context),
      timeoutMs: config.SCHEMA_REGISTRY_TIMEOUT_MS,
      names: config.names,
      close: () => {
        tokens?.close();
        tls?.close();
      },
    });
  } catch (error) {
    tls?.close();
    throw error;
  }
}

function headerOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

async function openTokens(config: RegistryConfig, log: Logger): Promise<TokenSource | undefined> {
  const { SCHEMA_REGISTRY_TOKEN_PROVIDER: path, names } = config;
  if (path === '') return undefined;
  const provider = await loadTokenProvider(path, names.SCHEMA_REGISTRY_TOKEN_PROVIDER, ConfigError);
  const tokens = new TokenSource({ load: () => Promise.resolve(provider) });
  const window = new LogWindow(LOG_WINDOW_MS);
  tokens.keepFresh(({ message }, expiresAt) =>
    window.run('token', (suppressed) =>
      log.warn(
        { err: { message }, expires: new Date(expiresAt).toISOString(), suppressed },
        'schema registry: no new token; the present one is used until it expires',
      ),
    ),
  );
  return tokens;
}

/** undefined: no file is set. @throws ConfigError */
async function openTlsFiles(config: RegistryConfig, log: Logger): Promise<TlsFiles | undefined> {
  const file = (
    setting: 'SCHEMA_REGISTRY_TLS_CA_FILE' | 'SCHEMA_REGISTRY_TLS_CERT_FILE' | 'SCHEMA_REGISTRY_TLS_KEY_FILE',
  ) => ({ setting: config.names[setting], path: config[setting] });
  const files = {
    authorities: file('SCHEMA_REGISTRY_TLS_CA_FILE'),
    certificate: file('SCHEMA_REGISTRY_TLS_CERT_FILE'),
    key: file('SCHEMA_REGISTRY_TLS_KEY_FILE'),
  };
  if (Object.values(files).every(({ path }) => path === '')) return undefined;
  const tls = new TlsFiles({
    ...files,
    passphrase: '',
    onChange: (reason) => {
      if (reason === undefined) log.info('schema registry: new connections use the changed TLS files');
      else log.warn({ reason }, 'schema registry: the TLS files cannot be used; the last good ones stay in use');
    },
  });
  await tls.read();
  tls.watch();
  return tls;
}
