import { appendFile, copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CertificateAuthority } from '../../stack/certificate-files.ts';
import type { CertificateFiles } from '../../stack/certificate-files.ts';
import type { RedisCluster } from '../../stack/redis-cluster.ts';
import { redisCluster } from '../support/services.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { withRedis } from '../support/with-redis.ts';

/** The nodes of a cluster over TLS, and what they and the pods show and trust. Both need certificates of each other. */
export class SecureCluster {
  readonly cluster: RedisCluster;
  /** Trusted by the pods and shown by them: their settings name these files. */
  readonly pods: CertificateFiles & { readonly trusted: string };
  readonly #folder: string;
  #authority: CertificateAuthority;

  private constructor(
    folder: string,
    authority: CertificateAuthority,
    cluster: RedisCluster,
    pods: SecureCluster['pods'],
  ) {
    this.#folder = folder;
    this.#authority = authority;
    this.cluster = cluster;
    this.pods = pods;
  }

  static async start(t: TestContext): Promise<SecureCluster> {
    const folder = await temporaryFolder(t);
    const authority = await CertificateAuthority.create(folder, 'authority-0');
    const server = await authority.issue('node');
    const pods = { trusted: join(folder, 'trusted.pem'), ...pathsOf(folder, 'pod') };
    await copyFile(authority.certificate, pods.trusted);
    await replace(pods, await authority.issue('pod'));
    const tls = { server, authority: authority.certificate, needsClientCertificate: true };
    return new SecureCluster(folder, authority, await redisCluster(t, { tls }), pods);
  }

  /** Replaces the authority and all certificates, without a moment in which somebody does not trust somebody. */
  async rotate(rotation: number, untilPodsRead: () => Promise<void>): Promise<void> {
    const { pods } = this;
    const [old, next] = [this.#authority, await CertificateAuthority.create(this.#folder, `authority-${rotation}`)];
    const both = join(this.#folder, `both-${rotation}.pem`);
    await copyFile(old.certificate, both);
    await appendFile(both, await readFile(next.certificate));
    await this.#configure('tls-ca-cert-file', both);
    await copyFile(both, pods.trusted);
    await untilPodsRead();
    const { certificate, key } = await next.issue('node');
    await this.#configure('tls-cert-file', certificate, 'tls-key-file', key);
    await replace(pods, await next.issue('pod'));
    await untilPodsRead();
    await copyFile(next.certificate, pods.trusted);
    await untilPodsRead();
    await this.#configure('tls-ca-cert-file', next.certificate);
    this.#authority = next;
  }

  /** Ends the links of the pods. */
  async cutLinks(): Promise<void> {
    for (const type of ['normal', 'pubsub']) await this.#call('CLIENT', 'KILL', 'TYPE', type);
  }

  #configure(...settings: readonly string[]): Promise<void> {
    return this.#call('CONFIG', 'SET', ...settings);
  }

  async #call(command: string, ...words: readonly string[]): Promise<void> {
    for (const node of [...this.cluster.primaries, ...this.cluster.replicas])
      await withRedis(node, {}, (client) => client.call(command, ...words));
  }
}

const pathsOf = (folder: string, name: string): CertificateFiles => ({
  certificate: join(folder, `${name}.pem`),
  key: join(folder, `${name}.key`),
});

async function replace(old: CertificateFiles, { certificate, key }: CertificateFiles): Promise<void> {
  await copyFile(certificate, old.certificate);
  await copyFile(key, old.key);
}
