import type { TlsFilesOptions } from '../base/tls-files.ts';
import { secretNow } from './settings.ts';
import type { SettingsSource } from './settings.ts';

type Service = 'KAFKA' | 'REDIS';
type Suffix = 'CA_FILE' | 'CERT_FILE' | 'KEY_FILE' | 'KEY_PASSPHRASE';

/** The files of the `<service>_TLS_…` settings, and their passphrase as its file has it at each reading. */
export function tlsOf<S extends Service>(
  service: S,
  config: SettingsSource & Readonly<Record<`${S}_TLS_${Suffix}`, string>>,
): Pick<TlsFilesOptions, 'authorities' | 'certificate' | 'key' | 'passphrase'> {
  const setting = <Of extends Suffix>(suffix: Of) => `${service}_TLS_${suffix}` as const;
  const file = (suffix: Suffix) => ({ setting: config.names[setting(suffix)], path: config[setting(suffix)] });
  const passphrase = setting('KEY_PASSPHRASE');
  return {
    authorities: file('CA_FILE'),
    certificate: file('CERT_FILE'),
    key: file('KEY_FILE'),
    passphrase: { setting: config.names[passphrase], read: () => secretNow(config, passphrase) },
  };
}
