import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { firstCertificateOf, privateKeyOf } from '../base/pem.ts';
import type { KeyRefusal } from '../base/pem.ts';
import type { SettingName, SettingNames } from './setting-names.ts';
import { readSecretFile } from './secret-file.ts';

/** Paths of PEM files; '': there is none. */
export interface TlsPaths {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

type TlsFile = keyof TlsPaths;

interface TlsContents extends Readonly<Record<TlsFile, string | undefined>> {
  readonly passphrase: string;
}

const TLS_SETTINGS = {
  ca: 'KAFKA_TLS_CA_FILE',
  cert: 'KAFKA_TLS_CERT_FILE',
  key: 'KAFKA_TLS_KEY_FILE',
} as const satisfies Readonly<Record<TlsFile, SettingName>>;

const EXPECTED: Readonly<Record<TlsFile, string>> = {
  ca: 'a PEM file of certificates',
  cert: 'a PEM file of a certificate',
  key: 'a PEM file of a private key',
};

const keyRefusals = (names: SettingNames): Readonly<Record<KeyRefusal, string>> => ({
  encrypted: `it is encrypted: set ${names.KAFKA_TLS_KEY_PASSPHRASE}`,
  wrongPassphrase: `${names.KAFKA_TLS_KEY_PASSPHRASE} does not open it`,
  unreadable: 'it holds none that can be read',
});

/** The message names the variable, its file and the fix, and never shows the content of a key or a passphrase. */
export class TlsFilesError extends Error {
  override readonly name = 'TlsFilesError';
}

/**
 * The TLS files of a client. They are read again for each connection: an authority, a certificate or a key that was replaced is used by
 * the next connection.
 */
export class TlsFiles {
  readonly #paths: TlsPaths;
  readonly #passphrase: () => string;
  readonly #names: SettingNames;
  /** Contents and passphrase of `#context`. */
  #contents: string | undefined;
  #context: SecureContext | undefined;

  constructor(paths: TlsPaths, passphrase: () => string, names: SettingNames) {
    this.#paths = paths;
    this.#passphrase = passphrase;
    this.#names = names;
  }

  /**
   * The context of a new connection. Files that cannot be used now, such as a certificate whose key is not replaced yet, leave the context
   * as it was: `onStale` is called with the reason.
   * @throws TlsFilesError if the files were never usable
   */
  context(onStale: (error: Error) => void): SecureContext {
    try {
      const files = this.#read();
      const contents = JSON.stringify(files);
      if (!this.#context || contents !== this.#contents) {
        this.#context = this.#create(files);
        this.#contents = contents;
      }
    } catch (error) {
      if (!this.#context) throw error;
      onStale(error as Error);
    }
    return this.#context;
  }

  #read(): TlsContents {
    const passphrase = this.#passphrase();
    return { ca: this.#fileOf('ca'), cert: this.#fileOf('cert'), key: this.#fileOf('key'), passphrase };
  }

  #fileOf(file: TlsFile): string | undefined {
    const path = this.#paths[file];
    if (path === '') return undefined;
    try {
      return readSecretFile(path);
    } catch (error) {
      throw new TlsFilesError(`${this.#expected(file)}, but it ${(error as Error).message}`);
    }
  }

  #expected(file: TlsFile): string {
    return `${this.#names[TLS_SETTINGS[file]]}: expected ${EXPECTED[file]} at ${JSON.stringify(this.#paths[file])}`;
  }

  #create({ ca, cert, key, passphrase }: TlsContents): SecureContext {
    for (const [file, pem] of [
      ['ca', ca],
      ['cert', cert],
    ] as const)
      this.#requireCertificates(file, pem);
    if (cert !== undefined && key !== undefined) this.#requirePair(cert, key, passphrase);
    return createSecureContext({ ca, cert, key, ...(passphrase !== '' && { passphrase }) });
  }

  #requireCertificates(file: 'ca' | 'cert', pem: string | undefined): void {
    if (pem === undefined || firstCertificateOf(pem)) return;
    throw new TlsFilesError(`${this.#expected(file)}, but it holds none that can be read`);
  }

  #requirePair(cert: string, pem: string, passphrase: string): void {
    const key = privateKeyOf(pem, passphrase);
    if (typeof key === 'string')
      throw new TlsFilesError(`${this.#expected('key')}, but ${keyRefusals(this.#names)[key]}`);
    if (new X509Certificate(cert).checkPrivateKey(key)) return;
    const fix = `it is not the key of the certificate in ${this.#names.KAFKA_TLS_CERT_FILE}: replace one of the two`;
    throw new TlsFilesError(`${this.#expected('key')}, but ${fix}`);
  }
}
