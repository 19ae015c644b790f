import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority, encryptKey, issue } from './certificates.ts';
import type { KeyPair } from './certificates.ts';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority for tests. Its files, and those of what it issues, are in one folder; whoever made the folder removes it. */
export class CertificateAuthority {
  /** PEM file of its own certificate. */
  readonly certificate: string;
  readonly #stem: string;
  readonly #pair: KeyPair;

  private constructor(stem: string, pair: KeyPair) {
    this.#stem = stem;
    this.#pair = pair;
    this.certificate = `${stem}.pem`;
  }

  /** @param name of its files and its subject, different in one folder */
  static async create(folder: string, name: string): Promise<CertificateAuthority> {
    const authority = new CertificateAuthority(join(folder, name), await createAuthority(name));
    await writeFile(authority.certificate, authority.#pair.certificate);
    return authority;
  }

  /**
   * Issues a certificate of 127.0.0.1 and localhost for servers and clients, valid for two days.
   * @param name of its files and its subject, different in one folder
   * @param passphrase encrypts the key
   * @param hosts instead of 127.0.0.1 and localhost
   */
  async issue(
    name: string,
    {
      passphrase,
      hosts = ['127.0.0.1', 'localhost'],
    }: { readonly passphrase?: string; readonly hosts?: string[] } = {},
  ): Promise<CertificateFiles> {
    const stem = `${this.#stem}-${name}`;
    const pair = await issue(this.#pair, [name, ...hosts]);
    const files: CertificateFiles = { certificate: `${stem}.pem`, key: `${stem}.key` };
    await writeFile(files.certificate, pair.certificate);
    await writeFile(files.key, passphrase === undefined ? pair.key : encryptKey(pair, passphrase));
    return files;
  }
}
