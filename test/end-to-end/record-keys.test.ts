import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { startSchemaRegistry } from '../../stack/schema-registry.ts';
import type { SchemaRegistryServer } from '../../stack/schema-registry.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { checked } from '../ops/check/checked.ts';
import { framed, globalId, registerSchema, schemaRegistry } from '../support/schema-registry.ts';
import { randomName } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { watch } from '../support/stock-client.ts';
import { startPod } from './pod-server.ts';
import { podSettings } from './pod-settings.ts';

const KEY = '{"type":"record","name":"K","fields":[{"name":"id","type":"long"}]}';
const ROW = '{"type":"record","name":"Row","fields":[{"name":"id","type":"long"},{"name":"name","type":"string"}]}';
const CONNECT = '"schema":{"type":"struct","fields":[{"field":"id","type":"int64","optional":false}],"optional":false}';
const PROTO = 'syntax = "proto3"; message Key { int64 id = 1; string tenant = 2; }';

/** Two integers that a double takes for one. */
const BIG = ['9007199254740992', '9007199254740993'] as const;

/** A zigzag varint, as Avro writes a long. */
function long(value: string): Buffer {
  return Buffer.from(varint(BigInt(value) * 2n));
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (; value >= 0x80n; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
  return [...bytes, Number(value)];
}

const text = (value: string) => Buffer.concat([long(`${Buffer.byteLength(value)}`), Buffer.from(value)]);
const tenantKey = (id: string, tenant: string) =>
  Buffer.from([0, 0x08, ...varint(BigInt(id)), 0x12, tenant.length, ...Buffer.from(tenant)]);

/** Their registered ids, by the subject; `global`: that of Apicurio's own API for `avro`. */
type Ids = Readonly<Record<'avro' | 'string' | 'proto' | 'json' | 'global', number>>;

/** What writers of keys make of an id. */
const WRITERS: Readonly<Record<string, (id: string, ids: Ids) => string | Buffer>> = {
  avro: (id, ids) => framed(ids.avro, long(id)),
  avro_of_8_bytes: (id, ids) => Buffer.concat([Buffer.alloc(4), framed(ids.global, long(id))]),
  avro_string: (id, ids) => framed(ids.string, text(id)),
  protobuf: (id, ids) => framed(ids.proto, Buffer.from([0, 0x08, ...varint(BigInt(id))])),
  json_schema: (id, ids) => framed(ids.json, Buffer.from(`{"id":${id}}`)),
  json_struct: (id) => `{"id":${id}}`,
  json_with_schema: (id) => `{${CONNECT},"payload":{"id":${id}}}`,
  json_string: (id) => `"${id}"`,
  plain: (id) => id,
};

describe('the keys of records', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));
  const stops: (() => Promise<void>)[] = [];
  let registry: SchemaRegistryServer;
  let ids: Ids;
  before(async () => {
    registry = await schemaRegistry({ after: (stop) => stops.push(stop) });
    const register = (schema: string, schemaType: 'AVRO' | 'PROTOBUF' | 'JSON' = 'AVRO') =>
      registerSchema(registry.url, randomName(), { schema, schemaType });
    const ofKey = randomName();
    const avro = await registerSchema(registry.url, ofKey, { schema: KEY });
    ids = {
      avro,
      global: await globalId(registry.url, ofKey),
      string: await register('"string"'),
      proto: await register(PROTO, 'PROTOBUF'),
      json: await register('{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}', 'JSON'),
    };
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  async function settingsFor(t: TestContext, schema: string, url = registry.url) {
    const settings = await podSettings(t, outside.brokers, schema);
    return {
      ...settings,
      KAFKA_FROM_BEGINNING: 'true',
      SCHEMA_REGISTRY_URL: url,
      SCHEMA_REGISTRY_TIMEOUT_MS: '1000',
    };
  }

  it('that writers of all kinds make route records, tombstones and states to their own subscribers (B-2)', async (t) => {
    const topics = new Map<string, string>();
    // A field with a state would lend it to those that share its channels.
    const kept = new Map<string, string>();
    for (const writer of Object.keys(WRITERS)) {
      topics.set(writer, await outside.createTopic(undefined, 1));
      kept.set(writer, await outside.createTopic(undefined, 1));
    }
    const isStruct = (writer: string) => !/string|plain/.test(writer);
    const byPath = 'match: [{ arg: "id", path: "id" }]';
    const fields = [...topics].map(
      ([writer, topic]) => `
        ${writer}(id: ID): Row @kafka(topic: "${topic}", ${byPath}, tombstone: COMPLETE)
        ${writer}_kept(id: ID): Row @kafka(topic: "${kept.get(writer)!}", ${byPath}, tombstone: NULL, state: {})
        ${writer}_keyed(id: ID): Row
          @kafka(topic: "${topic}", match: [{ arg: "id", key: ${isStruct(writer) ? '"id"' : 'true'} }], tombstone: COMPLETE)`,
    );
    const schema = `type Subscription { ${fields.join('')} }
      type Row { id: ID! name: String key: String @record(field: KEY) }`;
    const pod = await startPod(t, await settingsFor(t, schema));
    const socket = await openSocket(t, pod.url);
    await socket.init();
    const names = [...topics.keys()].flatMap((writer) => ['', '_kept', '_keyed'].map((suffix) => writer + suffix));
    for (const name of names)
      for (const id of BIG) socket.subscribe(`${name} ${id}`, `subscription { ${name}(id: "${id}") { id name key } }`);
    // The argument of a text is the whole text, with the quotes of JSON.
    const quoted = JSON.stringify(`"${BIG[1]}"`);
    socket.subscribe('quoted', `subscription { json_string_keyed(id: ${quoted}) { id } }`);
    await pod.counts('crier_channels', names.length * 2 + 1);
    const row = await registerSchema(registry.url, randomName(), { schema: ROW });
    for (const [writer, topic] of topics) {
      const keyOf = (id: string) => WRITERS[writer]!(id, ids);
      const value = (id: string) =>
        writer === 'avro' ? framed(row, Buffer.concat([long(id), text('a')])) : `{"id":${id},"name":"a"}`;
      const records = [
        ...BIG.map((id) => ({ partition: 0, key: keyOf(id), value: value(id) })),
        { partition: 0, key: keyOf(BIG[1]), value: null },
      ];
      await outside.send(topic, records);
      await outside.send(kept.get(writer)!, records);
    }
    // Three fields of two subscribers receive a row, and those of the second are told of its tombstone.
    const all = names.length * 3 - 3 + 2;
    const messages = await socket.take(all);
    assert.deepEqual(await socket.roundTrip(), []);
    const dataOf = (name: string, id: string) =>
      messages
        .filter((message) => message.id === `${name} ${id}`)
        .map(({ type, payload }) => {
          if (type !== 'next') return type;
          const data = Object.values((payload as { data: Record<string, { key: string } | null> }).data)[0]!;
          // An integer beyond a double may have quotes of its own.
          return data && { ...data, key: data.key.replaceAll('"', '') };
        });
    for (const writer of topics.keys()) {
      const rowOf = (id: string) => {
        // Protobuf does not write empty texts, which are there.
        const rest = writer === 'protobuf' ? ',tenant:' : '';
        return { id, name: 'a', key: isStruct(writer) ? `{id:${id}${rest}}` : id };
      };
      assert.deepEqual(dataOf(writer, BIG[0]), [rowOf(BIG[0])], writer);
      assert.deepEqual(dataOf(writer, BIG[1]), [rowOf(BIG[1]), 'complete'], writer);
      assert.deepEqual(dataOf(`${writer}_kept`, BIG[1]), [rowOf(BIG[1]), null], writer);
      assert.deepEqual(dataOf(`${writer}_kept`, BIG[0]), [rowOf(BIG[0])], writer);
      const isQuoted = writer === 'json_string';
      assert.deepEqual(dataOf(`${writer}_keyed`, BIG[1]), isQuoted ? [] : [rowOf(BIG[1]), 'complete'], writer);
    }
    assert.equal(messages.filter(({ id }) => id === 'quoted').length, 2);
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
    assert.equal(await pod.metric('crier_tombstones_total{outcome="unreadable_key"}'), 0);
    assert.doesNotMatch(pod.log, /the key of a record/);
    // Who begins now sees that the deleted row has no state.
    const later = await openSocket(t, pod.url);
    await later.init();
    for (const id of BIG) later.subscribe(id, `subscription { avro_kept(id: "${id}") { id } }`);
    assert.deepEqual(
      (await later.take(1)).map(({ id }) => id),
      [BIG[0]],
    );
    assert.deepEqual(await later.roundTrip(), []);
  });

  it('reach no foreign tenant, whichever way they are written (16 tenants, ids beyond 2^53)', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const match = 'match: [{ arg: "tenant", key: "tenant" }, { arg: "id", key: "id" }]';
    const schema = `type Subscription { row(tenant: ID!, id: ID!): Row @kafka(topic: "${topic}", ${match}, tombstone: NULL) }
      type Row { id: ID! tenant: ID! }`;
    const pod = await startPod(t, await settingsFor(t, schema));
    const tenants = Array.from({ length: 16 }, (_, i) => `t${i}`);
    const socket = await openSocket(t, pod.url);
    await socket.init();
    for (const tenant of tenants)
      for (const id of BIG)
        socket.subscribe(`${tenant} ${id}`, `subscription { row(tenant: "${tenant}", id: "${id}") { id tenant } }`);
    await pod.counts('crier_channels', 32);
    const pair = tenants.flatMap((tenant) => BIG.map((id) => ({ tenant, id })));
    const records = Array.from({ length: 10 }, (_, round) =>
      pair.map(({ tenant, id }, i) => {
        const json = `{"tenant":"${tenant}","id":${id}}`;
        const keys = [
          json,
          `{"schema":{"type":"struct"},"payload":${json}}`,
          framed(ids.json, Buffer.from(json)),
          framed(ids.proto, tenantKey(id, tenant)),
        ];
        return { partition: 0, key: keys[(i * 7 + round) % 4]!, value: round === 9 ? null : json };
      }),
    );
    for (const round of records) await outside.send(topic, round);
    const messages = await socket.take(320);
    const foreign = messages.filter(({ id, payload }) => {
      const { row } = (payload as { data: { row: { id: string; tenant: string } | null } }).data;
      return row !== null && `${row.tenant} ${row.id}` !== id;
    });
    assert.equal(foreign.length, 0);
    for (const { tenant, id } of pair) {
      const own = messages.filter((message) => message.id === `${tenant} ${id}`);
      assert.equal(own.length, 10);
      assert.deepEqual((own.at(-1)!.payload as { data: unknown }).data, { row: null });
    }
    assert.deepEqual(await socket.roundTrip(), []);
  });

  it('are one key for the state, whichever schema they were written with, and wait while a schema cannot be had', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    let server = await startSchemaRegistry();
    t.after(() => server.stop());
    const { port, url } = server;
    const state = 'match: [{ arg: "customer", path: "customer" }], tombstone: NULL, state: {}';
    const schema = `type Subscription { last(customer: ID): Row @kafka(topic: "${topic}", ${state}) } type Row { id: ID! customer: ID }`;
    const pod = await startPod(t, await settingsFor(t, schema, url));
    const rows = watch(t, pod.url, 'subscription { last(customer: "ann") { id } }');
    await pod.counts('crier_channels', 1);
    const versions = [1, 2, 3].map((version) =>
      JSON.stringify({ ...(JSON.parse(KEY) as object), doc: `version ${version}` }),
    );
    const register = async (version: number) =>
      registerSchema(url, `${topic}-key-${version}`, { schema: versions[version - 1]! });
    const [first, second, third] = [await register(1), await register(2), await register(3)];
    const of = (schemaId: number, value: string | null) => ({ partition: 0, key: framed(schemaId, long('7')), value });
    const order = '{"id":7,"customer":"ann"}';
    await outside.send(topic, [of(first, order), of(second, null), of(second, order)]);
    await rows.event(3, 30_000);
    assert.deepEqual(
      rows.events.map(({ last }) => last),
      [{ id: '7' }, null, { id: '7' }],
    );
    await server.kill();
    await outside.send(topic, [of(third, null)]);
    await pod.counts('crier_schema_waiting_partitions', 1);
    assert.equal(rows.events.length, 3);
    server = await startSchemaRegistry({ port });
    for (const version of [1, 2, 3]) await register(version);
    await rows.event(4, 60_000);
    assert.equal(rows.events[3]!['last'], null);
  });

  it('that are longs, which begin like a key with a schema, hold up their topic once, also while the registry is away', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const server = await startSchemaRegistry();
    t.after(() => server.stop());
    const match = 'match: [{ arg: "id", path: "id" }], tombstone: NULL';
    const schema = `type Subscription { row(id: ID): Row @kafka(topic: "${topic}", ${match}) } type Row { id: ID! }`;
    const pod = await startPod(t, await settingsFor(t, schema, server.url));
    const rows = watch(t, pod.url, 'subscription { row { id } }');
    await pod.counts('crier_channels', 1);
    let id = 0;
    const of = (key: Buffer | string) => ({ partition: 0, key, value: `{"id":${id++}}` });
    const long = (schemaId: number) => {
      const key = Buffer.alloc(8);
      key.writeBigInt64BE((BigInt(schemaId) << 24n) | 5n);
      return key;
    };
    await outside.send(topic, [of(long(1_000_000))]);
    await rows.event(1, 30_000);
    await server.kill();
    const uuid = Buffer.from('00123e4567e89b12d3a4564266141740', 'hex');
    await outside.send(topic, [of(long(2_000_000)), of(uuid), of(Buffer.of(0, 1, 2, 3)), of(long(3_000_000)), of('7')]);
    await rows.event(6, 30_000);
    assert.deepEqual(
      rows.events.map(({ row }) => (row as { id: string }).id),
      ['0', '1', '2', '3', '4', '5'],
    );
    assert.equal(await pod.metric('crier_schema_waiting_partitions'), 0);
  });

  it('that cannot be read are no poison, and are named once, at the start and by crier check', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const byPath = `row(id: ID): Row @kafka(topic: "${topic}", match: [{ arg: "id", path: "id" }], tombstone: NULL)`;
    const byKey = `keyed(id: ID): Row @kafka(topic: "${topic}", match: [{ arg: "id", key: "id" }])`;
    const schema = `type Subscription { ${byPath} ${byKey} } type Row { id: ID! }`;
    const settings = await settingsFor(t, schema, '');
    const keyed = (value: string | null) => ({ partition: 0, key: framed(ids.avro, long('7')), value });
    await outside.send(topic, [keyed('{"id":7}'), keyed('{"id":7}'), keyed(null)]);
    const pod = await startPod(t, settings);
    await pod.counts(`crier_tombstones_total{topic="${topic}",outcome="unreadable_key"}`, 1);
    const named = () => pod.lines.filter(({ msg }) => msg.startsWith('the key of a record cannot be read'));
    assert.deepEqual(
      named().map(({ key, topic: of }) => [key, of]),
      [['a key with a schema, and no registry for it is set', topic]],
    );
    assert.match(
      named()[0]!.msg,
      /; the key names its schema by its id in a registry: set SCHEMA_REGISTRY_URL, or for AWS Glue npm install @aws-sdk\/client-glue\S* beside the graph, /,
    );
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
    const found = (await checked(settings)).lines.join('\n');
    assert.match(
      found,
      /Subscription\.keyed: match of "id": the record has a key with a schema, and no registry for it/,
    );
    assert.match(
      found,
      /Subscription\.row: tombstone: the record has a key with a schema, and no registry for it is set/,
    );
    const other = { ...settings, SCHEMA_REGISTRY_URL: registry.url };
    assert.doesNotMatch((await checked(other)).lines.join('\n'), /tombstone: the record/);
  });
});
