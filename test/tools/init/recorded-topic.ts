import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from 'kafkajs';
import { framed, registerSchema } from '../../support/schema-registry.ts';

/** Of test/cdc/write-records.ts. */
interface Recording {
  /** By the ids that the records name. */
  readonly schemas?: Readonly<Record<string, object>>;
  readonly records: readonly {
    readonly topic: string;
    readonly key: string | null;
    readonly value: string | null;
    readonly headers?: Readonly<Record<string, string>>;
  }[];
}

const HEADER_BYTES = 5;

/**
 * The records that Debezium wrote of a table, as a producer sends them. Of `avro`, their schemas are registered.
 * @param connector a file of test/kafka/fixtures/change-records
 */
export async function recordedTopic(connector: string, table: string, registryUrl?: string): Promise<Message[]> {
  const file = join('test', 'kafka', 'fixtures', 'change-records', `${connector}.json`);
  const { records, schemas } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  const ids = new Map<number, number>();
  const bytesOf = async (text: string | null) => {
    if (text === null) return null;
    if (!schemas) return Buffer.from(text);
    const bytes = Buffer.from(text, 'base64');
    const id = bytes.readUInt32BE(1);
    const registered = ids.get(id) ?? (await register(registryUrl!, id, schemas));
    ids.set(id, registered);
    return framed(registered, bytes.subarray(HEADER_BYTES));
  };
  const messages: Message[] = [];
  for (const { topic, key, value, headers } of records) {
    if (!topic.endsWith(`.${table}`)) continue;
    messages.push({ key: await bytesOf(key), value: await bytesOf(value), ...(headers && { headers }) });
  }
  return messages;
}

function register(url: string, id: number, schemas: Readonly<Record<string, object>>): Promise<number> {
  return registerSchema(url, `recorded-${id}`, { schema: JSON.stringify(schemas[id]) });
}
