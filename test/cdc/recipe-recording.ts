import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { startConnect } from '../../stack/connect.ts';
import type { ConnectorSettings } from '../../stack/connect.ts';
import { runFlink } from '../../stack/flink.ts';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import { createTopics } from '../../stack/topics.ts';
import { until } from '../../stack/until.ts';
import { recipeOfPage } from '../docs/recipe.ts';
import { RECIPE_CASES } from './recipe-cases.ts';
import type { RecipeName } from './recipe-cases.ts';
import { json } from './record-connectors.ts';
import { recordedParts } from './recorded-parts.ts';
import { MARIADB, MONGODB, POSTGRESQL } from './recipe-sources.ts';
import type { SourceKind } from './recipe-sources.ts';

export interface RecipeRecording {
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: ConnectorSettings;
  readonly records: readonly object[];
}

const FLINK = 'Flink (upsert-kafka)';
const MYSQL = 'MySQL and MariaDB with Debezium';

/** After a record of Flink, the next one. */
const SETTLE_MS = 1_000;

/** The database of each recipe, and its title in docs/recipes. */
const SOURCES: Readonly<Record<RecipeName, readonly [kind: SourceKind, title: string]>> = {
  postgresql: [POSTGRESQL, 'PostgreSQL with Debezium'],
  types: [POSTGRESQL, 'Dates, decimals and big ids'],
  mysql: [MARIADB, MYSQL],
  mysql_schemas: [MARIADB, MYSQL],
  mongodb: [MONGODB, 'MongoDB with Debezium'],
  outbox: [POSTGRESQL, 'Outbox with Debezium'],
};

/** The settings of the page; for records with their schemas, without those that only records without a schema need. */
function settingsOf(name: RecipeName): ConnectorSettings {
  const { settings } = recipeOfPage(SOURCES[name][1]);
  if (name !== 'mysql_schemas') return settings;
  const kept = Object.entries(settings).filter(
    ([setting]) => !setting.startsWith('decimal.') && !setting.startsWith('time.'),
  );
  return { ...Object.fromEntries(kept), 'bigint.unsigned.handling.mode': 'precise', ...json(true) };
}

/** Runs the database, the connector with the settings of docs/recipes and the changes of the recipe. Resolves with what the connector has written. */
export async function recordRecipe(name: RecipeName): Promise<RecipeRecording> {
  const [kind, title] = SOURCES[name];
  const { tables, changes } = RECIPE_CASES[name];
  const settings = settingsOf(name);
  const stage = await startStage(title);
  try {
    const { kafka, folder, records, ends } = stage;
    const source = await kind.start(folder);
    ends.push(() => source.stop());
    await source.query(tables);
    const connect = await startConnect({ kafka, folder, jars: kind.jars });
    ends.push(() => connect.stop());
    await connect.startConnector(name, { ...source.settings, ...settings });
    let count = 0;
    for (const [statements, written] of changes) {
      if (statements !== '') await source.query(statements);
      count += written;
      const isThere = async () => (await connect.isRunning(name)) && records.length >= count;
      await until(`${count} records of ${name}`, isThere).catch((error: Error) => {
        throw new Error(`${error.message}; there are ${JSON.stringify(records, null, 1)}`);
      });
    }
    return { versions: { ...source.versions, connect: '4.1.0' }, settings, records };
  } finally {
    await stage.stop();
  }
}

/** Runs the statements of the recipe for Flink. Resolves with what its table has written. */
export async function recordFlink(): Promise<RecipeRecording> {
  const stage = await startStage(FLINK);
  try {
    const statements = join(stage.folder, 'tables.sql');
    await writeFile(statements, recipeOfPage(FLINK).sql.replaceAll('kafka:9092', stage.kafka));
    await runFlink(statements);
    let count = -1;
    await until('all records', async () => {
      const before = count;
      count = stage.records.length;
      await delay(SETTLE_MS);
      return count > 0 && count === before;
    });
    return { versions: { flink: '2.2.1', connector: '5.0.0-2.2' }, settings: {}, records: stage.records };
  } finally {
    await stage.stop();
  }
}

/** A Kafka with the topic of a recipe, and what is written to it. */
async function startStage(title: string) {
  const [, topic] = /topic: "([^"]+)"/.exec(recipeOfPage(title).graph)!;
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'crier-recipe-'));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const kafka = await startKafkaBroker();
    ends.push(() => kafka.stop());
    await createTopics(kafka.address, [{ topic: topic!, numPartitions: 1 }]);
    const client = new kafkajs.Kafka({ brokers: [kafka.address], logLevel: kafkajs.logLevel.NOTHING });
    const consumer = client.consumer({ groupId: 'records', maxWaitTimeInMs: 100 });
    const records: object[] = [];
    await consumer.connect();
    ends.push(() => consumer.disconnect());
    await consumer.subscribe({ topics: [topic!], fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message: { key, value, headers } }) => {
        const record = { key, value, headers: (headers ?? {}) as Record<string, Buffer> };
        records.push({ topic, ...recordedParts(record, 'utf8') });
        return Promise.resolve();
      },
    });
    return { kafka: kafka.address, folder, records, ends, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
