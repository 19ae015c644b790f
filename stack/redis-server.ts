import { Redis } from 'ioredis';
import type { CertificateFiles } from './certificate-files.ts';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import { redisProgram } from './redis-program.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

export interface RedisServer extends Service {
  readonly port: number;
  readonly url: string;
  /** '' without `tls`. */
  readonly tlsUrl: string;
}

export interface RedisServerOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** Comes before the flags. */
  readonly configFile?: string;
  readonly flags?: readonly string[];
  /** Serves TLS on a second port. */
  readonly tls?: RedisTlsOptions;
}

export interface RedisTlsOptions {
  readonly server: CertificateFiles;
  /** PEM file of the authorities of clients. */
  readonly authority: string;
  /** A client must show a certificate of these authorities. Default false. */
  readonly needsClientCertificate?: boolean;
}

/** Starts a Redis without persistence on loopback. A server restarted on the same port is empty. */
export async function startRedisServer({
  port,
  configFile,
  flags = [],
  tls,
}: RedisServerOptions = {}): Promise<RedisServer> {
  port ??= (await freePorts(1))[0]!;
  const [tlsPort] = tls ? await freePorts(1) : [];
  const service = await startService({
    name: `Redis on port ${port}`,
    command: await redisProgram(),
    arguments: [
      ...(configFile === undefined ? [] : [configFile]),
      // 50 Hz: it looks for SIGTERM that often.
      ...['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--hz', '50'],
      ...(tls ? tlsFlags(tls, tlsPort!) : []),
      ...flags,
    ],
    fix: installHint(['redis-server']),
    isReady: () => answersPing(port),
    timeoutMs: 10_000,
  });
  const tlsUrl = tlsPort === undefined ? '' : `rediss://127.0.0.1:${tlsPort}`;
  return { ...service, port, url: `redis://127.0.0.1:${port}`, tlsUrl };
}

function tlsFlags({ server, authority, needsClientCertificate = false }: RedisTlsOptions, port: number): string[] {
  return [
    ...['--tls-port', `${port}`, '--tls-cert-file', server.certificate, '--tls-key-file', server.key],
    ...['--tls-ca-cert-file', authority, '--tls-auth-clients', needsClientCertificate ? 'yes' : 'no'],
  ];
}

async function answersPing(port: number): Promise<boolean> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 1000,
    // A server that knows no user without a password refuses the check.
    enableReadyCheck: false,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch (error) {
    // A password is wanted: it runs.
    return /NOAUTH/.test((error as Error).message);
  } finally {
    client.disconnect();
  }
}
