import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Why a key cannot be used. */
export type KeyRefusal = 'encrypted' | 'wrongPassphrase' | 'unreadable';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The first certificate of a PEM text; undefined: there is none, or one of them cannot be read. */
export function firstCertificateOf(pem: string): X509Certificate | undefined {
  const blocks = pem.match(CERTIFICATE) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block))[0];
  } catch {
    // The message of OpenSSL says less than the caller can, and may show the text: a key may be in it by mistake.
    return undefined;
  }
}

/** @param passphrase '': none */
export function privateKeyOf(pem: string, passphrase: string): KeyObject | KeyRefusal {
  const isEncrypted = /ENCRYPTED/.test(pem);
  if (isEncrypted && passphrase === '') return 'encrypted';
  try {
    return createPrivateKey({ key: pem, ...(isEncrypted && { passphrase }) });
  } catch {
    return isEncrypted ? 'wrongPassphrase' : 'unreadable';
  }
}
