import { execFile } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** PEM texts. */
export interface KeyPair {
  readonly certificate: string;
  /** PKCS 8. */
  readonly key: string;
}

const run = promisify(execFile);
const DAYS = '2';
/** Without it openssl adds the extensions of the machine's configuration. */
const CONFIGURATION = '[req]\ndistinguished_name = dn\n[dn]\n';

/** A certificate authority whose own certificate is valid for two days. */
export function createAuthority(name = 'crier-test-authority'): Promise<KeyPair> {
  return create(name, ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign']);
}

/**
 * A certificate for servers and clients, valid for two days.
 * @param names its first name is the subject; each is a DNS name or an IPv4 address
 */
export async function issue(authority: KeyPair, names: readonly [string, ...string[]]): Promise<KeyPair> {
  const alternatives = names.map((name) => `${/^[\d.]+$/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',');
  return create(names[0], ['-addext', `subjectAltName=${alternatives}`], authority);
}

async function create(name: string, extensions: readonly string[], authority?: KeyPair): Promise<KeyPair> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-certificates-'));
  const at = (file: string) => join(folder, file);
  try {
    await writeFile(at('configuration'), CONFIGURATION);
    if (authority) await writeFile(at('authority'), authority.certificate);
    if (authority) await writeFile(at('authority-key'), authority.key);
    await run('openssl', [
      ...['req', '-x509', '-config', at('configuration'), '-days', DAYS, '-subj', `/CN=${name}`, ...extensions],
      ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', at('key'), '-out', at('pem')],
      ...(authority ? ['-CA', at('authority'), '-CAkey', at('authority-key')] : []),
    ]);
    const [certificate, key] = await Promise.all([readFile(at('pem'), 'utf8'), readFile(at('key'), 'utf8')]);
    return { certificate, key };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The key of a pair, encrypted. */
export function encryptKey({ key }: KeyPair, passphrase: string): string {
  return createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString();
}
