import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A certificate of 127.0.0.1 for two days, which is its own authority: as PEM, and the path of its PKCS 12 key store. keytool is part of the
 * Java that Kafka needs.
 * @param password of the key store
 * @param flags of keytool
 */
export async function createCertificate(
  folder: string,
  name: string,
  password: string,
  flags: readonly string[] = [],
): Promise<{ keystore: string; certificate: string }> {
  const keystore = join(folder, `${name}.p12`);
  const store = ['-keystore', keystore, '-storepass', password, '-alias', 'broker'];
  const subject = ['-dname', 'CN=crier-test', '-ext', 'san=ip:127.0.0.1', '-validity', '2', ...flags];
  await run('keytool', ['-genkeypair', '-keyalg', 'EC', ...store, '-storetype', 'PKCS12', ...subject]);
  const { stdout } = await run('keytool', ['-exportcert', '-rfc', ...store]);
  return { keystore, certificate: stdout };
}
