import type { NewRecord, Publish, PublishedRecord } from '../graph/context/publishing.ts';
import { clientError } from '../base/errors.ts';
import { withBigInts } from '../base/json/exact-numbers.ts';
import { ProduceError } from '../kafka/produce-outcome.ts';
import type { ProduceFailure } from '../kafka/produce-outcome.ts';
import type { ProducedRecord, RecordProducer } from '../kafka/record-producer.ts';
import { LogWindow } from '../base/log.ts';
import type { RoleServices } from './services.ts';

const LOG_WINDOW_MS = 10_000;

/** Writes a record; resolves when it is written. */
type Write = (record: ProducedRecord) => Promise<Omit<PublishedRecord, 'topic' | 'key'>>;

/** What publishes the records of mutations: a producer, or the topics of the embedded mode. */
export async function openPublishing(services: RoleServices): Promise<Publish> {
  const { config, log, metrics } = services;
  const write = await openWriter(services);
  const published = metrics.increments(
    'crier_published_records_total',
    'Records that mutations published, by outcome.',
    ['topic', 'outcome'],
  );
  const failures = new LogWindow(LOG_WINDOW_MS);
  return async (topic, record) => {
    if (!write) throw new Error(`context.publish needs ${config.names.KAFKA_BROKERS}, which this pod does not have`);
    const produced = encode(topic, record, config.MAX_RECORD_BYTES);
    try {
      const position = await write(produced);
      published.inc({ topic, outcome: 'written' });
      return { topic, ...position, key: produced.key };
    } catch (error) {
      const failure = error instanceof ProduceError ? error.failure : 'unwritten';
      published.inc({ topic, outcome: failure });
      failures.run(`${topic} ${failure}`, (suppressed) =>
        log.warn({ topic, outcome: failure, err: error, suppressed }, 'publishing a record failed'),
      );
      throw clientError(...CLIENT_ERRORS[failure]);
    }
  };
}

const CLIENT_ERRORS: Readonly<Record<ProduceFailure, Parameters<typeof clientError>>> = {
  unwritten: ['KAFKA_UNAVAILABLE', 'Kafka is not available; nothing was written'],
  unconfirmed: [
    'KAFKA_UNCONFIRMED',
    'Kafka did not confirm the record, which may have been written; find out before you send it again',
  ],
  refused: ['KAFKA_REFUSED', 'Kafka refused the record; nothing was written'],
};

async function openWriter(services: RoleServices): Promise<Write | undefined> {
  const { config, embedded, graph } = services;
  if (config.KAFKA_BROKERS.length > 0) {
    let producer: Promise<RecordProducer> | undefined;
    let isClosed = false;
    services.register({
      close: async () => {
        isClosed = true;
        await (await producer?.catch(() => undefined))?.close();
      },
    });
    const open = async () => {
      if (isClosed) throw new ProduceError('unwritten', new Error('the Kafka connection was closed'));
      return (producer ??= openProducer(services));
    };
    // Not by the first record, whose load would hold up events, and fail for as long as the process lives.
    if (graph.current.schema.getMutationType()) await open();
    return async (record) => {
      const { partition, offset, timestamp } = await (await open()).send(record);
      return { partition, offset: `${offset}`, timestamp: new Date(timestamp).toISOString() };
    };
  }
  if (!embedded) return undefined;
  return async ({ topic, key, value, headers }) => {
    const { partition, offset, timestamp } = await embedded.append(topic, {
      key: key === null ? null : Buffer.from(key),
      value,
      headers,
    });
    return { partition, offset: `${offset}`, timestamp: new Date(timestamp).toISOString() };
  };
}

/** Loads kafkajs, which a gateway without mutations does not need. */
async function openProducer({ config, log }: RoleServices): Promise<RecordProducer> {
  const [{ RecordProducer }, { createKafkaClient }] = await Promise.all([
    import('../kafka/record-producer.ts'),
    import('../kafka/client/kafka-client.ts'),
  ]);
  return new RecordProducer(() => createKafkaClient(config, log));
}

/** @throws TypeError for a mistake of the graph; GraphQLError for a record that is too large */
function encode(topic: unknown, { key = null, value, headers = {} }: NewRecord, maxBytes: number): ProducedRecord {
  if (typeof topic !== 'string') throw new TypeError('context.publish: the topic must be a string');
  if (key !== null && typeof key !== 'string') throw new TypeError('context.publish: the key must be a string or null');
  if (typeof value !== 'object') throw new TypeError('context.publish: the value must be an object or null');
  for (const header of Object.values(headers as Readonly<Record<string, unknown>>)) {
    if (typeof header !== 'string') throw new TypeError('context.publish: headers must be strings');
  }
  const bytes = value === null ? null : Buffer.from(JSON.stringify(value, withBigInts));
  const size = [key ?? '', ...Object.entries(headers).flat()].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    bytes?.length ?? 0,
  );
  if (size > maxBytes) {
    throw clientError('BAD_USER_INPUT', `The record is larger than ${maxBytes} bytes (MAX_RECORD_BYTES)`);
  }
  return { topic, key, value: bytes, headers };
}
