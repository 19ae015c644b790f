import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import avsc from 'avsc';
import protobuf from 'protobufjs';
import { startSchemaRegistry } from '../../stack/schema-registry.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { framed, registerSchema } from '../support/schema-registry.ts';
import type { NewSchema } from '../support/schema-registry.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { startPod } from './pod-server.ts';

const RECORDS = 10_000;
const RECORDS_OF_A_VERSION = 1_200;
const RECORDS_OF_A_ROUND = 25;
/** Beyond 32 bits. */
const LARGE = 2 ** 40;

/** What a client reads of an order; null: the version of its schema has no such field. */
interface Order {
  readonly sequence: number;
  readonly total: number;
  readonly status: string;
  readonly new_note: string | null;
  readonly old_note: string | null;
}

/** A version of the schema of one topic. */
interface Version extends NewSchema {
  readonly orderOf: (sequence: number) => Order;
  readonly encode: (order: Order) => Buffer;
}

const order = (sequence: number, changes: Partial<Order> = {}): Order => ({
  sequence,
  total: sequence * 3,
  status: sequence % 2 === 0 ? 'NEW' : 'PAID',
  new_note: null,
  old_note: null,
  ...changes,
});

const OLD = { name: 'oldNote', type: 'string' };
const ADDED = { name: 'newNote', type: ['null', 'string'], default: null };
const TWO = ['NEW', 'PAID'];

function avroVersion(
  total: string,
  symbols: string[],
  notes: object[],
  changes: (at: number) => Partial<Order>,
): Version {
  const fields = [
    ...notes,
    { name: 'sequence', type: 'int' },
    { name: 'total', type: total },
    { name: 'status', type: { type: 'enum', name: 'Status', symbols } },
  ];
  const schema = { type: 'record', name: 'Order', fields };
  const type = avsc.Type.forSchema(schema as avsc.Schema);
  return {
    schema: JSON.stringify(schema),
    orderOf: (at) => order(at, changes(at)),
    encode: ({ new_note: newNote, old_note: oldNote, ...rest }) => type.toBuffer({ ...rest, newNote, oldNote }),
  };
}

const noted = (at: number) => ({ new_note: `é ${at}` });
const AVRO: readonly Version[] = [
  avroVersion('int', TWO, [OLD], () => ({ old_note: 'o' })),
  avroVersion('int', TWO, [ADDED, OLD], (at) => ({ old_note: 'o', ...noted(at) })),
  avroVersion('int', TWO, [ADDED], noted),
  avroVersion('long', TWO, [ADDED], (at) => ({ ...noted(at), total: LARGE + at })),
  avroVersion('long', [...TWO, 'SHIPPED'], [ADDED], (at) => ({ ...noted(at), status: 'SHIPPED' })),
];

function protoVersion(fields: string, changes: (at: number) => Partial<Order>): Version {
  const schema = `syntax = "proto3"; enum Status { NEW = 0; PAID = 1; }
    message Order { int32 sequence = 1; Status status = 3; ${fields} }`;
  const type = protobuf.parse(schema).root.lookupType('Order');
  return {
    schemaType: 'PROTOBUF',
    schema,
    orderOf: (at) => order(at, changes(at)),
    encode: ({ new_note: newNote, ...rest }) => {
      const bytes = type.encode(type.fromObject({ ...rest, ...(newNote !== null && { newNote }) })).finish();
      return Buffer.concat([Buffer.of(0), bytes]);
    },
  };
}

const PROTOBUF: readonly Version[] = [
  protoVersion('int32 total = 2;', () => ({})),
  protoVersion('int64 total = 2; optional string new_note = 4;', (at) => ({ ...noted(at), total: LARGE + at })),
];

function jsonVersion(property: string, changes: (at: number) => Partial<Order>): Version {
  const schema = JSON.stringify({ type: 'object', properties: { [property]: { type: ['string', 'null'] } } });
  const encode = (of: Order) => Buffer.from(JSON.stringify(of));
  return { schemaType: 'JSON', schema, orderOf: (at) => order(at, changes(at)), encode };
}

const JSON_SCHEMA: readonly Version[] = [
  jsonVersion('old_note', () => ({ old_note: 'o' })),
  jsonVersion('new_note', noted),
];

/** The producers of one topic: those of the newest version, and those that were not updated yet. */
class Producers {
  readonly topic: string;
  readonly versions: readonly Version[];
  /** What the clients must receive. */
  readonly ledger: Order[] = [];
  readonly #deployed: { readonly version: Version; readonly id: number }[] = [];

  constructor(topic: string, versions: readonly Version[]) {
    this.topic = topic;
    this.versions = versions;
  }

  get deployed(): number {
    return this.#deployed.length;
  }

  /** Registers the versions that the registry does not have, in their order. */
  async register(url: string, count: number): Promise<readonly number[]> {
    const ids: number[] = [];
    for (const version of this.versions.slice(0, count)) {
      ids.push(await registerSchema(url, `${this.topic}-value`, version));
    }
    return ids;
  }

  /** From now on every second record has this version. */
  deploy(id: number): void {
    this.#deployed.push({ version: this.versions[this.#deployed.length]!, id });
  }

  next(): Buffer[] {
    return Array.from({ length: RECORDS_OF_A_ROUND }, () => {
      const sequence = this.ledger.length;
      const { version, id } = this.#deployed.at(sequence % 2 === 0 ? -1 : -2) ?? this.#deployed[0]!;
      const written = version.orderOf(sequence);
      this.ledger.push(written);
      return framed(id, version.encode(written));
    });
  }

  async writes(count: number): Promise<void> {
    const end = this.ledger.length + count;
    await waitFor(`${end} records of ${this.topic}`, () => this.ledger.length >= end, 60_000);
  }
}

describe('schemas that change while producers write', { timeout: 600_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('deliver each of 10,000 records of Avro, Protobuf and JSON Schema once and in order, though the registry is away meanwhile', async (t) => {
    let registry = await startSchemaRegistry();
    t.after(() => registry.stop());
    const { port, url } = registry;
    const redis = await redisServer(t);
    const create = async (versions: readonly Version[]) =>
      new Producers(await outside.createTopic(undefined, 1), versions);
    const [avro, proto, json] = [await create(AVRO), await create(PROTOBUF), await create(JSON_SCHEMA)];
    const all = [avro, proto, json];
    const bind = (field: string, { topic }: Producers) => `${field}: Order @kafka(topic: "${topic}")`;
    const group = randomName('group');
    const pod = await startPod(t, {
      GRAPH: await graphFolder(t, {
        'schema.graphql': `
          type Order { sequence: Int total: String status: String new_note: String old_note: String }
          type Subscription { ${bind('avro', avro)} ${bind('proto', proto)} ${bind('json', json)} }`,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: group,
      KAFKA_DEAD_LETTER_TOPIC: randomName('dead'),
      KAFKA_FROM_BEGINNING: 'true',
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: randomName(),
      SCHEMA_REGISTRY_URL: url,
      SCHEMA_REGISTRY_TIMEOUT_MS: '1000',
    });
    const watched = ['avro', 'proto', 'json'].map((field) =>
      watch(t, pod.url, `subscription { order: ${field} { sequence total status new_note old_note } }`),
    );
    await pod.counts('crier_channels', 3);

    /** Ids are the order of registration: an empty registry that restarts gets the versions in the same order. */
    const registered: [Producers, number][] = [];
    const evolve = async (...producers: Producers[]) => {
      for (const of of producers) {
        registered.push([of, of.deployed + 1]);
        of.deploy((await of.register(url, of.deployed + 1)).at(-1)!);
      }
    };
    await evolve(...all);
    let isDone = false;
    const writing = (async () => {
      while (!isDone) {
        const sends = all.map((of) =>
          outside.send(
            of.topic,
            of.next().map((value) => ({ partition: 0, value })),
          ),
        );
        await Promise.all(sends);
      }
    })();
    const settled = writing.catch((error: unknown) => error);
    t.after(async () => {
      isDone = true;
      await settled;
    });

    await avro.writes(RECORDS_OF_A_VERSION);
    await evolve(avro, json);
    await avro.writes(RECORDS_OF_A_VERSION);
    await evolve(avro);
    await avro.writes(RECORDS_OF_A_VERSION);
    // The pod has read every version but the next one of Avro and of Protobuf.
    await pod.until('both versions of JSON', () => watched[2]!.events.some((event) => noteOf(event) !== null));
    const ofAvro = (await avro.register(url, 4)).at(-1)!;
    const ofProto = (await proto.register(url, 2)).at(-1)!;
    registered.push([avro, 4], [proto, 2]);
    await registry.kill();
    const known = [avro.ledger.length, proto.ledger.length];
    avro.deploy(ofAvro);
    proto.deploy(ofProto);
    await pod.counts('crier_schema_waiting_partitions', 2);
    const [committedOfAvro, committedOfProto] = [
      await outside.committed(group, avro.topic),
      await outside.committed(group, proto.topic),
    ];
    // The first record of an unknown version is one of the two that follow the known ones.
    assert.ok(committedOfAvro <= known[0]! + 2 && committedOfProto <= known[1]! + 2);
    const during = json.ledger.length;
    await waitFor('the topic whose versions are known', () => watched[2]!.events.length > during, 30_000);

    registry = await startSchemaRegistry({ port });
    for (const [of, count] of registered) await of.register(url, count);
    assert.equal((await avro.register(url, 4)).at(-1), ofAvro);
    await pod.until('the end of the wait', async () => (await pod.metric('crier_schema_waiting_partitions')) === 0);
    await evolve(avro);
    await avro.writes(Math.max(RECORDS_OF_A_VERSION, RECORDS - avro.ledger.length));
    isDone = true;
    await writing;

    for (const [i, { ledger }] of all.entries()) {
      await watched[i]!.event(ledger.length, 60_000);
      const received = watched[i]!.events.map((event) => JSON.stringify(event['order']));
      const written = ledger.map((of) => JSON.stringify({ ...of, total: String(of.total) }));
      const wrong = received.findIndex((text, at) => text !== written[at]);
      assert.equal(received[wrong], written[wrong], `record ${wrong}`);
      assert.equal(received.length, written.length);
      assert.ok(written.length >= RECORDS);
    }
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
    t.diagnostic(all.map(({ ledger }) => `${ledger.length} records`).join(', '));
  });
});

function noteOf(event: Readonly<Record<string, unknown>>): string | null {
  return (event['order'] as Order).new_note;
}
