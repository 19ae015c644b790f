import type { KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { ConfigError } from './errors.ts';
import { firstCertificateOf, privateKeyOf } from './pem.ts';
import type { KeyRefusal } from './pem.ts';
import { WatchedFile } from './watched-file.ts';

/** Path of a PEM file, and the setting that names it. */
export interface NamedFile {
  readonly setting: string;
  /** '': none. */
  readonly path: string;
}

export interface TlsFilesOptions {
  readonly authorities: NamedFile;
  readonly certificate: NamedFile;
  readonly key: NamedFile;
  /** Of the key; '': it is not encrypted. */
  readonly passphrase: string;
  /** Called after each change of a file: with a reason if the files cannot be used, and so change nothing. */
  readonly onChange: (refusal: string | undefined) => void;
  /** Default: 2000. */
  readonly pollIntervalMs?: number | undefined;
}

/** The authorities of an operating system have a quarter of it. */
const MAX_FILE_BYTES = 1024 * 1024;

const KEY_REFUSALS: Readonly<Record<KeyRefusal, string>> = {
  encrypted: 'the key is encrypted, and no passphrase is set for it',
  wrongPassphrase: 'the passphrase does not open the key',
  unreadable: 'expected a private key in PEM form (-----BEGIN PRIVATE KEY-----)',
};

interface Certificates {
  readonly text: string;
  readonly first: X509Certificate;
}

interface PrivateKey {
  readonly text: string;
  readonly key: KeyObject;
}

/**
 * The PEM files of TLS connections: trusted authorities, a certificate of ours and its key. They are read again when they change; files
 * that are bad, missing or do not fit each other change nothing.
 */
export class TlsFiles {
  readonly #options: TlsFilesOptions;
  readonly #authorities: WatchedFile<Certificates> | undefined;
  readonly #certificate: WatchedFile<Certificates> | undefined;
  readonly #key: WatchedFile<PrivateKey> | undefined;
  #context: SecureContext | undefined;

  constructor(options: TlsFilesOptions) {
    const { authorities, certificate, key, passphrase, pollIntervalMs } = options;
    const watched = <Value>({ path }: NamedFile, parse: (text: string) => Value) =>
      path === '' ? undefined : new WatchedFile({ path, maxBytes: MAX_FILE_BYTES, parse, intervalMs: pollIntervalMs });
    this.#options = options;
    this.#authorities = watched(authorities, parseCertificates);
    this.#certificate = watched(certificate, parseCertificates);
    this.#key = watched(key, (text) => parseKey(text, passphrase));
  }

  /** Of the last files that could be used; undefined: there is no file. */
  get context(): SecureContext | undefined {
    return this.#context;
  }

  /** @throws ConfigError for files that cannot be used */
  async read(): Promise<void> {
    const refusal = await this.#readAll();
    if (refusal !== undefined) throw new ConfigError(refusal);
  }

  watch(): void {
    const onChange = () => void this.#readAll().then(this.#options.onChange);
    for (const file of this.#files) file.watch(onChange);
  }

  close(): void {
    for (const file of this.#files) file.close();
  }

  get #files(): readonly Omit<WatchedFile<unknown>, 'value'>[] {
    return [this.#authorities, this.#certificate, this.#key].filter((file) => file !== undefined);
  }

  /** All of them, because they change together. Resolves with the reason why they cannot be used, if they cannot. */
  async #readAll(): Promise<string | undefined> {
    await Promise.all(this.#files.map((file) => file.read()));
    const { authorities, certificate, key, passphrase } = this.#options;
    for (const [{ setting }, file] of [
      [authorities, this.#authorities],
      [certificate, this.#certificate],
      [key, this.#key],
    ] as const) {
      if (file?.failure) return `${setting}: ${file.failure.message}`;
    }
    const [ca, cert, privateKey] = [this.#authorities?.value, this.#certificate?.value, this.#key?.value];
    if (cert && privateKey && !cert.first.checkPrivateKey(privateKey.key)) {
      return `${key.setting}: the key in ${key.path} does not belong to the first certificate in ${certificate.path} (${certificate.setting})`;
    }
    try {
      this.#context = createSecureContext({ ca: ca?.text, cert: cert?.text, key: privateKey?.text, passphrase });
    } catch (error) {
      return `${certificate.setting}: the TLS library refuses the files: ${(error as Error).message}`;
    }
    return undefined;
  }
}

function parseCertificates(text: string): Certificates {
  const first = firstCertificateOf(text);
  if (!first) throw new Error('expected certificates in PEM form (-----BEGIN CERTIFICATE-----)');
  return { text, first };
}

function parseKey(text: string, passphrase: string): PrivateKey {
  const key = privateKeyOf(text, passphrase);
  if (typeof key === 'string') throw new Error(KEY_REFUSALS[key]);
  return { text, key };
}
