import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { createAuthority, issue } from '../../stack/certificates.ts';
import { PASSWORD, RotatingKafka, USER, replaceFile } from '../support/rotating-kafka.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { isFull } from './form.ts';
import { createStage } from './stage.ts';
import { Trial } from './trial.ts';

const PARTITIONS = 4;
const RECORDS_PER_SECOND = isFull ? 500 : 100;
const NEXT_PASSWORD = 'hunter3';
/** Short, so that the login is asked for again during the test. */
const MAX_REAUTH_MS = 15_000;
const MAX_SILENCE_MS = 15_000;

it('the certificates and the password of Kafka are replaced without loss, reordering or duplicates', async (t) => {
  const kafka = await RotatingKafka.start(t, { maxReauthMs: MAX_REAUTH_MS });
  const folder = await temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  const client = await issue(kafka.authority, ['crier']);
  await writeFile(at('ca.pem'), kafka.authority.certificate);
  await writeFile(at('cert.pem'), client.certificate);
  await writeFile(at('key.pem'), client.key);
  await writeFile(at('password'), PASSWORD);
  const stage = await createStage(t, { brokers: kafka.plain, partitions: PARTITIONS });
  const worker = {
    KAFKA_TLS: 'true',
    KAFKA_TLS_CA_FILE: at('ca.pem'),
    KAFKA_TLS_CERT_FILE: at('cert.pem'),
    KAFKA_TLS_KEY_FILE: at('key.pem'),
  };
  const gateway = await stage.start('gateway');
  const login = {
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: USER,
    KAFKA_SASL_PASSWORD_FILE: at('password'),
  };
  await Promise.all([
    stage.start('worker', { ...worker, KAFKA_BROKERS: kafka.mutual }),
    stage.start('worker', { ...worker, ...login, KAFKA_BROKERS: kafka.saslTls }),
  ]);
  await stage.hasWorkers(2);
  const trial = await Trial.start(t, stage, [gateway], { recordsPerSecond: RECORDS_PER_SECOND });

  const next = await createAuthority('next-authority');
  const nextClient = await issue(kafka.authority, ['crier']);
  await replaceFile(at('ca.pem'), kafka.authority.certificate + next.certificate);
  await kafka.replaceCertificate(next);
  await replaceFile(at('cert.pem'), nextClient.certificate);
  await replaceFile(at('key.pem'), nextClient.key);
  kafka.dropConnections();
  await trial.hears('entries written after the certificates were replaced');
  trial.took('silence around the new certificates', trial.takeLongestSilence(), MAX_SILENCE_MS);

  await replaceFile(at('password'), NEXT_PASSWORD);
  await kafka.replacePassword(NEXT_PASSWORD);
  kafka.dropConnections();
  await trial.hears('entries written after the password was replaced');
  trial.took('silence around the new password', trial.takeLongestSilence(), MAX_SILENCE_MS);
  await stage.hasWorkers(2);
  assert.deepEqual(await trial.finish(), []);
});
