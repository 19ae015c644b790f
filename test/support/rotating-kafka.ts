import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { createAuthority, issue } from '../../stack/certificates.ts';
import type { KeyPair } from '../../stack/certificates.ts';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import { KAFKA_LIBS_FOLDER } from '../../stack/kafka-node.ts';
import { freePorts } from '../../stack/port.ts';
import { Balancer } from '../faults/balancer.ts';
import type { Scope } from './socket.ts';
import { waitFor } from './wait-for.ts';

/** Of PLAIN and SCRAM. */
export const USER = 'crier';
export const PASSWORD = 'hunter2';

const SCRAM = ['SCRAM-SHA-256', 'SCRAM-SHA-512'];
const MECHANISMS = ['PLAIN', ...SCRAM, 'OAUTHBEARER'];
const BROKER_ID = '1';
const BROKER_RESOURCE = 4;
const LOGIN = 'org.apache.kafka.common.security';

export interface RotatingKafkaOptions {
  /** After this time a broker asks each connection to log in again. */
  readonly maxReauthMs?: number;
}

/** A broker with an authority of its own, whose certificate and password may be replaced while it runs. */
export class RotatingKafka {
  /** Without TLS and SASL. */
  readonly plain: string;
  /** TLS that requires a client certificate. */
  readonly mutual: string;
  /** SASL with every mechanism, over TLS. */
  readonly saslTls: string;
  /** SASL with every mechanism, without TLS. */
  readonly sasl: string;
  readonly authority: KeyPair;
  readonly #folder: string;
  readonly #links: readonly Balancer[];
  readonly #admin: Admin;

  private constructor(
    ports: Readonly<Record<'plain' | 'mutual' | 'saslTls' | 'sasl', number>>,
    { folder, authority, links }: { folder: string; authority: KeyPair; links: readonly Balancer[] },
  ) {
    this.plain = `127.0.0.1:${ports.plain}`;
    this.mutual = `127.0.0.1:${ports.mutual}`;
    this.saslTls = `127.0.0.1:${ports.saslTls}`;
    this.sasl = `127.0.0.1:${ports.sasl}`;
    this.authority = authority;
    this.#folder = folder;
    this.#links = links;
    this.#admin = new kafkajs.Kafka({ brokers: [this.plain], logLevel: kafkajs.logLevel.NOTHING }).admin();
  }

  static async start(t: Scope, { maxReauthMs }: RotatingKafkaOptions = {}): Promise<RotatingKafka> {
    const folder = await mkdtemp(join(tmpdir(), 'crier-access-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const authority = await createAuthority();
    const [mutual, saslTls, sasl] = (await freePorts(3)) as [number, number, number];
    const links = await Promise.all([mutual, saslTls].map((port) => Balancer.start(t, [port])));
    const [mutualLink, saslTlsLink] = links as [Balancer, Balancer];
    const [keystore, truststore] = [join(folder, 'broker.pem'), join(folder, 'authority.pem')];
    await writeFile(keystore, storeOf(await issue(authority, ['127.0.0.1'])));
    await writeFile(truststore, authority.certificate);
    const broker = await startKafkaBroker({
      listeners: [
        { name: 'MUTUAL', protocol: 'SSL', port: mutual, advertisedPort: mutualLink.port },
        { name: 'SASLTLS', protocol: 'SASL_SSL', port: saslTls, advertisedPort: saslTlsLink.port },
        { name: 'SASL', protocol: 'SASL_PLAINTEXT', port: sasl },
      ],
      properties: [
        'listener.name.mutual.ssl.client.auth=required',
        ...['mutual', 'sasltls'].flatMap((name) => [
          `listener.name.${name}.ssl.keystore.type=PEM`,
          `listener.name.${name}.ssl.keystore.location=${keystore}`,
          `listener.name.${name}.ssl.truststore.type=PEM`,
          `listener.name.${name}.ssl.truststore.location=${truststore}`,
        ]),
        ...['sasltls', 'sasl'].flatMap((name) => saslProperties(name)),
        ...(maxReauthMs === undefined ? [] : [`connections.max.reauth.ms=${maxReauthMs}`]),
      ],
      formatFlags: SCRAM.flatMap((mechanism) => ['--add-scram', `${mechanism}=[name=${USER},password=${PASSWORD}]`]),
    });
    t.after(() => broker.stop());
    const kafka = new RotatingKafka(
      { plain: broker.port, mutual: mutualLink.port, saslTls: saslTlsLink.port, sasl },
      { folder, authority, links },
    );
    await kafka.#admin.connect();
    t.after(() => kafka.#admin.disconnect());
    return kafka;
  }

  /** Ends the connections over TLS, so that clients make new ones. */
  dropConnections(): void {
    for (const link of this.#links) link.cut();
  }

  /** Resolves when new connections get a certificate of this authority. */
  async replaceCertificate(authority: KeyPair): Promise<void> {
    const path = join(this.#folder, `broker-${Date.now()}.pem`);
    await writeFile(path, storeOf(await issue(authority, ['127.0.0.1'])));
    const name = (listener: string) => `listener.name.${listener}.ssl.keystore.location`;
    await this.#admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: BROKER_RESOURCE,
          name: BROKER_ID,
          configEntries: ['mutual', 'sasltls'].map((listener) => ({ name: name(listener), value: path })),
        },
      ],
    });
    const isOf = (address: string) => isOfAuthority(address, authority);
    await waitFor('the new certificate', async () => (await isOf(this.mutual)) && (await isOf(this.saslTls)));
  }

  /** New connections, and those that log in again, need this password for SCRAM-SHA-512. */
  async replacePassword(password: string): Promise<void> {
    await promisify(execFile)('java', [
      ...['-XX:TieredStopAtLevel=1', '-cp', join(KAFKA_LIBS_FOLDER, '*'), 'kafka.admin.ConfigCommand'],
      ...['--bootstrap-server', this.plain, '--alter', '--entity-type', 'users', '--entity-name', USER],
      ...['--add-config', `SCRAM-SHA-512=[iterations=4096,password=${password}]`],
    ]);
  }
}

/** An unsigned token, which the broker accepts until `lifetimeMs` from now. */
export function unsecuredToken(lifetimeMs: number, subject = USER): { value: string; expiresAt: number } {
  const expiresAt = Date.now() + lifetimeMs;
  const [header, claims] = [
    { alg: 'none' },
    { sub: subject, iat: Math.floor(Date.now() / 1000), exp: expiresAt / 1000 },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return { value: `${header}.${claims}.`, expiresAt };
}

/** Replaces a file as a whole, as Kubernetes and editors do. */
export async function replaceFile(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

function isOfAuthority(address: string, { certificate: ca }: KeyPair): Promise<boolean> {
  const [host, port] = address.split(':') as [string, string];
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), ca, rejectUnauthorized: false }, () => {
      resolve(socket.authorized);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}

function storeOf({ key, certificate }: KeyPair): string {
  return key + certificate;
}

function plainLogin(password: string): string {
  return `${LOGIN}.plain.PlainLoginModule required user_${USER}="${password}";`;
}

function saslProperties(name: string): string[] {
  const of = (mechanism: string, login: string) => `listener.name.${name}.${mechanism}.sasl.jaas.config=${login}`;
  return [
    `listener.name.${name}.sasl.enabled.mechanisms=${MECHANISMS.join(',')}`,
    of('plain', plainLogin(PASSWORD)),
    of('scram-sha-256', `${LOGIN}.scram.ScramLoginModule required;`),
    of('scram-sha-512', `${LOGIN}.scram.ScramLoginModule required;`),
    of('oauthbearer', `${LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`),
  ];
}
