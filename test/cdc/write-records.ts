import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { startConnect } from '../../stack/connect.ts';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { startSchemaRegistry } from '../../stack/schema-registry.ts';
import { until } from '../../stack/until.ts';
import { CHANGES, TABLES } from './record-cases.ts';
import { debezium, recordedConnectors } from './record-connectors.ts';
import { recordedParts } from './recorded-parts.ts';
import type { KafkaRecord } from './recorded-parts.ts';

/**
 * `node dist/test/cdc/write-records.js`: writes test/kafka/fixtures/change-records, the records that Debezium's connector for PostgreSQL
 * writes for `CHANGES`, one file for each of `recordedConnectors`.
 */
const FOLDER = join('test', 'kafka', 'fixtures', 'change-records');

/** After the record of a marker in one topic, those before it in other topics. */
const SETTLE_MS = 500;

const [postgres, kafka, registry] = await Promise.all([startPostgres(), startKafkaBroker(), startSchemaRegistry()]);
const folder = await mkdtemp(join(tmpdir(), 'crier-connect-'));
const connect = await startConnect({ kafka: kafka.address, folder });
const client = new kafkajs.Kafka({ brokers: [kafka.address], logLevel: kafkajs.logLevel.NOTHING });
const records: KafkaRecord[] = [];
try {
  await postgres.session.query(TABLES);
  const connectors = recordedConnectors(`http://127.0.0.1:${registry.port}/apis/registry/v2`);
  const written: Record<string, string[]> = {};
  for (const [name, settings] of Object.entries(connectors)) {
    written[name] = [];
    await connect.startConnector(name, { ...debezium(name, postgres.port), 'topic.prefix': name, ...settings });
  }
  const marked = Object.keys(connectors).filter((name) => !name.startsWith('outbox'));
  const isMarked = async (name: string, label: string) =>
    (await connect.isRunning(name)) &&
    records.some(({ topic, value }) => topic === `${name}.public.markers` && value?.includes(label));
  const slots = async () =>
    +(await postgres.session.query('select count(*) from pg_replication_slots where active'))[0]![0]!;
  await until('all connectors to stream', async () => (await slots()) === Object.keys(connectors).length);

  const changes = { snapshot: '', ...CHANGES };
  let consumed = 0;
  for (const [label, sql] of Object.entries(changes)) {
    await postgres.session.query(`${sql} insert into markers (label) values ('[${label}]')`);
    if (label === 'snapshot') await consume(Object.keys(connectors));
    for (const name of marked) await until(`${name}: ${label}`, () => isMarked(name, `[${label}]`));
    await delay(SETTLE_MS);
    for (const record of records.slice(consumed)) {
      const name = record.topic.split('.', 1)[0]!;
      if (record.topic.endsWith('.markers')) continue;
      if (record.topic.endsWith('.transaction') && label !== 'insert') continue;
      written[name]!.push(
        JSON.stringify({
          case: label,
          topic: record.topic,
          ...recordedParts(record, name.startsWith('avro') ? 'base64' : 'utf8'),
        }),
      );
    }
    consumed = records.length;
  }

  const versions = {
    postgresql: (await postgres.session.query('show server_version'))[0]![0],
    debezium: '3.7.0.Final',
    connect: '4.1.0',
    apicurio: '2.6.13.Final',
  };
  await mkdir(FOLDER, { recursive: true });
  for (const [name, settings] of Object.entries(connectors)) {
    const schemas = name.startsWith('avro') ? await schemasOf(name) : undefined;
    const lines = [
      `"versions": ${JSON.stringify(versions)}`,
      `"settings": ${JSON.stringify(settings, null, 2).replaceAll(/http:\/\/[^"/]+/g, 'http://registry:8080')}`,
      ...(schemas ? [`"schemas": {\n${schemas.join(',\n')}\n}`] : []),
      `"records": [\n${written[name]!.join(',\n')}\n]`,
    ];
    await writeFile(join(FOLDER, `${name}.json`), `{\n${lines.join(',\n')}\n}\n`);
  }
} finally {
  await connect.stop();
  await Promise.all([postgres.stop(), kafka.stop(), registry.stop()]);
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** Makes the topics of the connectors that are not there yet, and reads all from their beginning. */
async function consume(connectors: readonly string[]): Promise<void> {
  const tables = [
    'markers',
    'rows',
    'keyed',
    'strict',
    'strict_full',
    'indexed',
    'pairs',
    'texts',
    'texts_full',
    'types',
  ];
  const topics = connectors.flatMap((name) =>
    name.startsWith('outbox') ? [`${name}.order`] : tables.map((table) => `${name}.public.${table}`),
  );
  topics.push('plain.transaction', 'plain');
  const admin = client.admin();
  await admin.connect();
  for (const topic of topics) {
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] }).catch(() => undefined);
  }
  await admin.disconnect();
  const consumer = client.consumer({ groupId: 'records', maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ topic, message: { key, value, headers } }) => {
      records.push({ topic, key, value, headers: (headers ?? {}) as Record<string, Buffer> });
      return Promise.resolve();
    },
  });
}

/** Lines with the schemas of a connector by their ids: 4 bytes after a zero, 8 bytes after a zero, or a header. */
async function schemasOf(name: string): Promise<string[]> {
  const ids = new Set<number>();
  for (const { topic, key, value, headers } of records) {
    if (!topic.startsWith(`${name}.public.`) || topic.endsWith('.markers')) continue;
    if (name === 'avro_headers') {
      for (const part of ['key', 'value']) {
        const id = headers[`apicurio.${part}.globalId`];
        if (id) ids.add(Number(id.readBigInt64BE()));
      }
    } else {
      for (const bytes of [key, value]) {
        if (bytes) ids.add(name === 'avro' ? bytes.readUInt32BE(1) : Number(bytes.readBigInt64BE(1)));
      }
    }
  }
  const kind = name === 'avro' ? 'contentIds' : 'globalIds';
  const schemas: string[] = [];
  for (const id of [...ids].sort((one, other) => one - other)) {
    const response = await fetch(`http://127.0.0.1:${registry.port}/apis/registry/v2/ids/${kind}/${id}`);
    schemas.push(`"${id}": ${JSON.stringify(await response.json())}`);
  }
  return schemas;
}
