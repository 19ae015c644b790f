import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from './errors.ts';
import { firstCertificateOf, privateKeyOf } from './pem.ts';
import type { KeyRefusal } from './pem.ts';
import { readRegularFile } from './secret-file.ts';
import { contentOf } from './watched-file.ts';

/** Path of a PEM file, and the setting that names it. */
export interface NamedFile {
  readonly setting: string;
  /** '': none. */
  readonly path: string;
}

/** The passphrase of a key, and the setting that gives it. */
export interface NamedPassphrase {
  readonly setting: string;
  /** Called at each reading. @throws Error if its file cannot be read */
  readonly read: () => string;
}

export interface TlsFilesOptions {
  readonly authorities: NamedFile;
  readonly certificate: NamedFile;
  readonly key: NamedFile;
  /** '': no setting takes one. */
  readonly passphrase: NamedPassphrase | '';
  /** Called while the files are watched, after each change of a file: with a reason if the files cannot be used, and so change nothing. */
  readonly onChange?: (refusal: string | undefined) => void;
  /** Default: 2000. */
  readonly pollIntervalMs?: number | undefined;
}

/** The authorities of an operating system have a quarter of it. */
const MAX_FILE_BYTES = 1024 * 1024;
const POLL_INTERVAL_MS = 2000;

const ROLES = ['authorities', 'certificate', 'key'] as const;
type Role = (typeof ROLES)[number];

const EXPECTED: Readonly<Record<Role, string>> = {
  authorities: 'a PEM file of certificates',
  certificate: 'a PEM file of a certificate',
  key: 'a PEM file of a private key',
};

/** PEM texts; undefined: no file is set. */
interface Contents extends Readonly<Record<Role, string | undefined>> {
  readonly passphrase: string;
}

/**
 * The PEM files of TLS connections: trusted authorities, a certificate of ours and its key. New connections use those that replaced them; files
 * that are bad, missing or do not fit each other change nothing. A refusal names the setting, its file and the fix, and shows no content.
 */
export class TlsFiles {
  readonly #options: TlsFilesOptions;
  /** Those of `#context`. */
  #contents: Contents | undefined;
  #context: SecureContext | undefined;
  /** Of the last reading of `watch`. */
  #refusal: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: TlsFilesOptions) {
    this.#options = options;
  }

  /** Of the last files that could be used; undefined: there were none. */
  get context(): SecureContext | undefined {
    return this.#context;
  }

  /** Reads the files now. Returns why they cannot be used, which leaves the context as it was. */
  renew(): string | undefined {
    try {
      const contents = this.#read();
      if (isDeepStrictEqual(contents, this.#contents)) return undefined;
      this.#context = this.#contextOf(contents);
      this.#contents = contents;
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** @throws ConfigError for files that cannot be used */
  read(): Promise<void> {
    const refusal = this.renew();
    return refusal === undefined ? Promise.resolve() : Promise.reject(new ConfigError(refusal));
  }

  /** Reads the files every 2 s from now on. A mount that hangs does not hold up the event loop: only files that have changed are read on it. */
  watch(): void {
    if (this.#isClosed) return;
    const { pollIntervalMs = POLL_INTERVAL_MS } = this.#options;
    this.#timer = setTimeout(() => void this.#poll(), pollIntervalMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #poll(): Promise<void> {
    const hasChanged = await this.#hasChanged();
    if (this.#isClosed) return;
    const { context } = this;
    const refusal = hasChanged ? this.renew() : undefined;
    const isNews = context !== this.context || refusal !== this.#refusal;
    this.#refusal = refusal;
    if (isNews) this.#options.onChange?.(refusal);
    this.watch();
  }

  /** True if a file is not that of the context, or cannot be read. */
  async #hasChanged(): Promise<boolean> {
    let hasChanged = false;
    // One after the other: a mount that hangs holds up one thread of libuv's pool.
    for (const role of ROLES) {
      const { path } = this.#options[role];
      const text = path === '' ? undefined : await contentOf(path, MAX_FILE_BYTES).then(String, () => null);
      if (text !== this.#contents?.[role]) hasChanged = true;
    }
    return hasChanged;
  }

  #read(): Contents {
    const { passphrase } = this.#options;
    return {
      authorities: this.#textOf('authorities'),
      certificate: this.#textOf('certificate'),
      key: this.#textOf('key'),
      passphrase: passphrase === '' ? '' : passphrase.read(),
    };
  }

  #textOf(role: Role): string | undefined {
    const { path } = this.#options[role];
    if (path === '') return undefined;
    try {
      return readRegularFile(path, MAX_FILE_BYTES).toString();
    } catch (error) {
      throw this.#refused(role, `it ${(error as Error).message}`);
    }
  }

  #contextOf({ authorities, certificate, key, passphrase }: Contents): SecureContext {
    for (const [role, pem] of [
      ['authorities', authorities],
      ['certificate', certificate],
    ] as const) {
      if (pem !== undefined && !firstCertificateOf(pem)) throw this.#refused(role, 'it holds none that can be read');
    }
    if (key !== undefined) this.#requireKey(key, passphrase, certificate);
    try {
      return createSecureContext({ ca: authorities, cert: certificate, key, passphrase });
    } catch (error) {
      const { setting } = this.#options.certificate;
      throw new Error(`${setting}: the TLS library refuses the files: ${(error as Error).message}`, { cause: error });
    }
  }

  #requireKey(pem: string, passphrase: string, certificate: string | undefined): void {
    const key = privateKeyOf(pem, passphrase);
    if (typeof key === 'string') throw this.#refused('key', this.#keyRefusals[key]);
    if (certificate === undefined || new X509Certificate(certificate).checkPrivateKey(key)) return;
    const { setting } = this.#options.certificate;
    throw this.#refused('key', `it does not belong to the first certificate in ${setting}: replace one of the two`);
  }

  get #keyRefusals(): Readonly<Record<KeyRefusal, string>> {
    const setting = this.#options.passphrase === '' ? undefined : this.#options.passphrase.setting;
    return {
      encrypted: `it is encrypted: ${setting === undefined ? 'write it without a passphrase' : `set ${setting}`}`,
      wrongPassphrase: `${setting} does not open it`,
      unreadable: 'it holds none that can be read',
    };
  }

  #refused(role: Role, reason: string): Error {
    const { setting, path } = this.#options[role];
    return new Error(`${setting}: expected ${EXPECTED[role]} at ${JSON.stringify(path)}, but ${reason}`);
  }
}
