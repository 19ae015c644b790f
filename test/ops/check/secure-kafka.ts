import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import type { AclEntry } from 'kafkajs';
import { startKafkaBroker } from '../../../stack/kafka-broker.ts';
import { freePorts } from '../../../stack/port.ts';
import { createCertificate } from '../../support/certificate.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

export const PASSWORD = 'hunter2';

const OAUTH_LOGIN =
  'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";';

/** A listener for each way to connect. `sasl` and `saslTls` know the users. */
export interface SecureKafka {
  /** Without TLS and SASL, for a super user. */
  readonly plain: string;
  /** SASL with PLAIN and SCRAM-SHA-512. */
  readonly sasl: string;
  readonly tls: string;
  /** TLS, and SASL with PLAIN only. */
  readonly saslTls: string;
  /** TLS with a certificate that has expired. */
  readonly expired: string;
  /** SASL with OAUTHBEARER only. */
  readonly oauth: string;
  /** As `plain`, but the broker advertises 127.0.0.1:1, where nothing listens. */
  readonly misadvertised: string;
  /** The path of the two certificates of the TLS listeners, for 127.0.0.1 only. Each is its own authority. */
  readonly certificates: string;
  stop(): Promise<void>;
}

/** Rights of a user: `['TOPIC', name, 'READ']`. */
export type Right = readonly [resource: 'TOPIC' | 'GROUP', name: string, operation: keyof typeof AclOperationTypes];

/** One broker with an authorizer that refuses what no right allows. */
export async function startSecureKafka(users: readonly string[]): Promise<SecureKafka> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-keys-'));
  const ports = (await freePorts(6)) as [number, number, number, number, number, number];
  const [sasl, tls, saslTls, expired, oauth, misadvertised] = ports;
  const valid = await createCertificate(folder, 'valid', PASSWORD);
  // From three days ago until one day ago.
  const past = await createCertificate(folder, 'expired', PASSWORD, ['-startdate', '-3d']);
  const certificates = join(folder, 'certificates.pem');
  await writeFile(certificates, valid.certificate + past.certificate);
  const logins = users.map((user) => `user_${user}="${PASSWORD}"`).join(' ');
  const plainLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required ${logins};`;
  try {
    const broker = await startKafkaBroker({
      listeners: [
        { name: 'SASL', protocol: 'SASL_PLAINTEXT', port: sasl },
        { name: 'TLS', protocol: 'SSL', port: tls },
        { name: 'SASLTLS', protocol: 'SASL_SSL', port: saslTls },
        { name: 'EXPIRED', protocol: 'SSL', port: expired },
        { name: 'OAUTH', protocol: 'SASL_PLAINTEXT', port: oauth },
        { name: 'MISADVERTISED', protocol: 'PLAINTEXT', port: misadvertised, advertisedPort: 1 },
      ],
      properties: [
        'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'super.users=User:ANONYMOUS',
        'listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512',
        `listener.name.sasl.plain.sasl.jaas.config=${plainLogin}`,
        'listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;',
        'listener.name.sasltls.sasl.enabled.mechanisms=PLAIN',
        `listener.name.sasltls.plain.sasl.jaas.config=${plainLogin}`,
        'listener.name.oauth.sasl.enabled.mechanisms=OAUTHBEARER',
        `listener.name.oauth.oauthbearer.sasl.jaas.config=${OAUTH_LOGIN}`,
        `listener.name.expired.ssl.keystore.location=${past.keystore}`,
        `ssl.keystore.location=${valid.keystore}`,
        'ssl.keystore.type=PKCS12',
        `ssl.keystore.password=${PASSWORD}`,
        `ssl.key.password=${PASSWORD}`,
      ],
      formatFlags: users.flatMap((user) => ['--add-scram', `SCRAM-SHA-512=[name=${user},password=${PASSWORD}]`]),
    });
    const stop = async () => {
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    };
    const at = (port: number) => `127.0.0.1:${port}`;
    return {
      plain: broker.address,
      sasl: at(sasl),
      tls: at(tls),
      saslTls: at(saslTls),
      expired: at(expired),
      oauth: at(oauth),
      misadvertised: at(misadvertised),
      certificates,
      stop,
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

export function aclEntries(user: string, rights: readonly Right[]): AclEntry[] {
  return rights.map(([resource, resourceName, operation]) => ({
    resourceType: AclResourceTypes[resource],
    resourceName,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${user}`,
    host: '*',
    operation: AclOperationTypes[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));
}
