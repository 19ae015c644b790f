import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Message } from 'kafkajs';
import { withOutside } from '../../kafka/consumer-harness.ts';
import type { Outside } from '../../kafka/consumer-harness.ts';
import { checked } from '../../ops/check/checked.ts';
import { schemaRegistry } from '../../support/schema-registry.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { crier } from '../crier.ts';
import { recordedTopic } from './recorded-topic.ts';

const MONGODB = ['65a1b2c3d4e5f60718293a4b', '65a1b2c3d4e5f60718293a4c'].map((id, i): Message => {
  const document = { _id: { $oid: id }, name: `n${i}`, total: { $numberLong: '9007199254740993' }, tags: ['x'] };
  const value = { before: null, after: JSON.stringify(document), op: 'c', source: { connector: 'mongodb', ts_ms: 1 } };
  return { key: JSON.stringify({ id: `{"$oid": "${id}"}` }), value: JSON.stringify(value) };
});

const WRAPPED: Message = {
  key: '7',
  value: JSON.stringify({
    schema: {
      type: 'struct',
      fields: [
        { field: 'orderId', type: 'int32' },
        { field: 'changedAt', type: 'int64', name: 'org.apache.kafka.connect.data.Timestamp' },
      ],
    },
    payload: { orderId: 7, changedAt: 1_700_000_000_123 },
  }),
};

const ROW = `id: ID!
customer: String
status: String
name: String
amount: String
updated: String`;

const OUTBOX = [
  'envelope: OUTBOX, match: [{ arg: "order_id", path: "order_id" }], tombstone: SKIP',
  'status: String\norder_id: ID!\nevent_id: ID\nevent_type: String',
] as const;

/** Rows with decimals, whose schema no record has. */
const RAW = ['plain rows', 'flat rows'];

/** By connector and table: the binding, and the fields of the types. */
const RECORDED: Readonly<Record<string, readonly [binding: string, fields: string]>> = {
  'plain rows': [
    'envelope: DEBEZIUM, before: WHOLE, match: [{ arg: "id", path: "id" }], tombstone: NULL',
    `${ROW}\nnote: String\nop: String`,
  ],
  'plain pairs': [
    'envelope: DEBEZIUM, match: [{ arg: "tenant", path: "tenant" }, { arg: "number", path: "number" }], tombstone: NULL',
    'tenant: String!\nnumber: Int!\nname: String\nop: String',
  ],
  'schema rows': [
    'envelope: DEBEZIUM, before: WHOLE, match: [{ arg: "id", path: "id" }], tombstone: NULL',
    `${ROW}\nnote: String\nop: String`,
  ],
  'schema pairs': [
    'envelope: DEBEZIUM, match: [{ arg: "tenant", path: "tenant" }, { arg: "number", path: "number" }], tombstone: NULL',
    'tenant: String!\nnumber: Int!\nname: String\nop: String',
  ],
  'flat rows': [
    'envelope: DEBEZIUM_FLAT, match: [{ arg: "id", path: "id" }], tombstone: NULL',
    `${ROW}\nnote: String\nop: String`,
  ],
  'flat_schema rows': [
    'envelope: DEBEZIUM_FLAT, match: [{ arg: "id", path: "id" }], tombstone: NULL',
    `${ROW}\nnote: String\nop: String`,
  ],
  'outbox order': OUTBOX,
  'outbox_expanded order': OUTBOX,
  'avro rows': [
    'envelope: DEBEZIUM, before: WHOLE, match: [{ arg: "id", path: "id" }], tombstone: NULL',
    `${ROW}\nnote: String\nop: String`,
  ],
  'avro pairs': [
    'envelope: DEBEZIUM, match: [{ arg: "tenant", path: "tenant" }, { arg: "number", path: "number" }], tombstone: NULL',
    'tenant: String!\nnumber: Int!\nname: String\nop: String',
  ],
};

const SAMPLES_FIT = /^ok +records: the first samples fit the graph$/m;

const TYPES = `id: ID!
small: Int
big: BigInt
float_4: Float
float_8: Float
flag: Boolean
amount: String
free: String
price: String
at: String
at_3: String
atz: String
day: String
clock: String
clock_3: String
clockz: String
span: String
bits: String
bit_1: Boolean
place: Point
uid: String
feeling: TypeFeeling
doc: JSON
docb: JSON
bytes: String
tags: [String]
numbers: [Int]
amounts: [String]
days: [String]
attributes: JSON
code: String
address: String
span_4: String
op: String
x: Float
y: Float
wkb: String
srid: Int`;

/** Without the field of all rows. */
function single(schema: string): string {
  return schema.replace(/\n {2}"All (?:rows|records)[^\n]*\n[^\n]*\n/, '');
}

/** The schema of one field with another @kafka. */
function rebound(schema: string, from: string | RegExp, to: string): string {
  const changed = single(schema).replace(/@kafka\(.*\)$/m, (directive) => directive.replace(from, to));
  assert.notEqual(changed, schema);
  return changed;
}

function withoutOp(schema: string): string {
  return schema.replace(/ {2}"What happened.*\n.*\n/, '');
}

describe('crier init, of the records that Debezium writes', { timeout: 300_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** Writes the graph of a topic with these records, and returns it with what `crier check` says of it. */
  async function written(t: TestContext, table: string, messages: readonly Message[], registry?: string) {
    const topic = await outside.createTopic(`${randomName('db')}.public.${table}`, 1);
    await outside.send(topic, [...messages]);
    const settings = { KAFKA_BROKERS: outside.brokers, ...(registry && { SCHEMA_REGISTRY_URL: registry }) };
    const folder = join(await temporaryFolder(t), 'graph');
    const { code, output, errors } = await crier(t, ['init', folder, '--topic', topic], { settings });
    assert.deepEqual([code, errors], [0, '']);
    const schema = await readFile(join(folder, 'schema.graphql'), 'utf8');
    const redis = await redisServer(t);
    const check = async (changed?: string) => {
      if (changed !== undefined) await writeFile(join(folder, 'schema.graphql'), changed);
      const { lines } = await checked({ ...settings, GRAPH: folder, REDIS_URL: redis.url });
      return lines.filter((line) => /^(?:failed|warning) .*(?:records|registry|graph|Subscription)/.test(line));
    };
    const [, binding] = /@kafka\(topic: "[^"]*"(?:, )?(.*)\)$/m.exec(schema)!;
    const fields = [...schema.matchAll(/^ {2}(\w+: [^\s(]+)(?: @(?!kafka).*)?$/gm)]
      .map(([, field]) => field)
      .join('\n');
    const played = (await checked({ GRAPH: folder })).lines.join('\n');
    return { schema, binding, fields, output, check, topic, folder, settings, played };
  }

  /** Writes a graph from changes of rows, publishes its samples, and returns what `crier check` says of them. */
  async function published(t: TestContext) {
    const change = (id: number) => ({
      key: `{"id":${id}}`,
      value: JSON.stringify({ before: null, after: { id, n: 1 }, op: 'c', source: { connector: 'mysql', ts_ms: 1 } }),
    });
    const { schema, topic, folder, settings } = await written(t, 'orders', [change(1), change(2)]);
    const source = await readFile(join(folder, 'samples.ts'), 'base64');
    const module = (await import(`data:text/javascript;base64,${source}`)) as {
      records(): Iterable<{ value: { op: string } }>;
    };
    const samples: { op: string }[] = [];
    for (const { value } of module.records()) if (samples.push(value) === 4) break;
    const copy = await outside.createTopic(undefined, 1);
    const input = samples.map((value) => `${JSON.stringify(value)}\n`).join('');
    const { code } = await crier(t, ['publish', copy], { settings, input });
    await writeFile(join(folder, 'schema.graphql'), schema.replaceAll(topic, copy));
    const { lines } = await checked({ ...settings, GRAPH: folder, REDIS_URL: (await redisServer(t)).url });
    return { code, found: lines, played: samples.map(({ op }) => op) };
  }

  for (const [recorded, [binding, fields]] of Object.entries(RECORDED)) {
    it(`writes the envelope, the row and the key of ${recorded}, which fit the topic`, async (t) => {
      const [connector = '', table = ''] = recorded.split(' ');
      const registry = connector === 'avro' ? await schemaRegistry(t) : undefined;
      const messages = await recordedTopic(connector, table, registry?.url);
      const found = await written(t, table, messages, registry?.url);
      assert.deepEqual([found.binding, found.fields], [binding, fields], found.schema);
      assert.match(found.played, SAMPLES_FIT);
      const lines = await found.check();
      if (!RAW.includes(recorded)) {
        assert.deepEqual(lines, []);
        return;
      }
      const [line = '', ...others] = lines;
      const why = /that may be a decimal's bytes; set decimal\.handling\.mode=string of Debezium/;
      assert.match(line, /^warning [^\n]*Subscription\.row: Row\.amount: the record has a string at "amount" that may/);
      for (const said of [line, found.schema, found.output]) assert.match(said, why);
      assert.deepEqual(others, []);
    });
  }

  it('names the columns whose types Debezium leaves out of JSON without a schema, and no others', async (t) => {
    for (const connector of ['plain', 'flat']) {
      const { schema, output, check } = await written(t, 'types', await recordedTopic(connector, 'types'));
      const named = [...output.matchAll(/^warning: Type\.(\w+) has a value that (looks like|may be) ([\w' ]+)/gm)];
      assert.deepEqual(
        named.map(([, ...words]) => words.join(' ')),
        [
          "amount may be a decimal's bytes",
          "free looks like a decimal's bytes",
          "price may be a decimal's bytes",
          'at looks like microseconds since 1970',
          'day looks like days since 1970',
          "bits may be a decimal's bytes",
          "amounts may be a decimal's bytes",
        ],
      );
      assert.match(
        schema,
        /# a value that looks like days since 1970, [^\n]*; set time\.precision\.mode=isostring[^\n]*\n {2}day: Int/,
      );
      const found = (await check()).map((line) => /Type\.\w+: the record has an? \w+ at "\w+" that/.exec(line)?.[0]);
      assert.equal(found.length, named.length, found.join('\n'));
      assert.ok(found.every((line) => line !== undefined));
    }
  });

  it('writes samples with an update and a delete, which crier publish takes as they are', async (t) => {
    const { code, found, played } = await published(t);
    assert.equal(code, 0);
    assert.deepEqual(played, ['c', 'c', 'u', 'd']);
    assert.match(found.join('\n'), /^ok +records: the newest records of the topic \S+ fit the graph \(3 compared\)$/m);
    assert.ok(!found.some((line) => line.startsWith('failed')), found.join('\n'));
  });

  it('says how rows before count where no update shows a whole one, and crier check where a field needs them', async (t) => {
    for (const table of ['keyed', 'pairs']) {
      const { schema, binding, check } = await written(t, table, await recordedTopic('schema', table));
      assert.match(schema, /# To match other columns .* ALTER TABLE … REPLICA IDENTITY FULL, and before: WHOLE below/);
      assert.doesNotMatch(binding!, /before/);
      assert.deepEqual(await check(), []);
      if (table === 'pairs') continue;
      const byCustomer = rebound(schema, 'path: "id"', 'path: "customer"');
      assert.match(
        (await check(byCustomer)).join('\n'),
        /^warning [^\n]*Subscription\.keyed: match of "id" on "customer", which the key does not have: [^\n]*before: WHOLE in @kafka$/,
      );
      assert.match(
        (await check(rebound(byCustomer, 'match:', 'before: WHOLE, match:'))).join('\n'),
        /^warning [^\n]*Subscription\.keyed: before: WHOLE is not true of the table: [^\n]*REPLICA IDENTITY FULL[^\n]*$/,
      );
    }
  });

  for (const connector of ['schema', 'connect', 'avro']) {
    it(`writes the types of columns that ${connector} says, which fit the topic`, async (t) => {
      const registry = connector === 'avro' ? await schemaRegistry(t) : undefined;
      const messages = await recordedTopic(connector, 'types', registry?.url);
      const { fields, schema, check, played } = await written(t, 'types', messages, registry?.url);
      assert.match(played, SAMPLES_FIT);
      assert.equal(fields, TYPES, schema);
      assert.match(schema, /enum TypeFeeling \{\n {2}sad\n {2}happy\n\}/);
      assert.deepEqual(await check(), []);
    });
  }

  it('reads schemas that headers name', async (t) => {
    const registry = await schemaRegistry(t);
    const messages = await recordedTopic('avro', 'rows', registry.url);
    const inHeader = messages.map(({ key, value }): Message => {
      const bytes = value as Buffer | null;
      return bytes === null
        ? { key: key!, value: null }
        : { key: key!, value: bytes.subarray(5), headers: { __value_schema_id: bytes.subarray(0, 5) } };
    });
    const { binding, fields, schema } = await written(t, 'rows', inHeader, registry.url);
    assert.deepEqual([binding, fields], RECORDED['avro rows'], schema);
  });

  it('writes the documents of MongoDB, whose id is the key', async (t) => {
    const { binding, fields, schema, check, played } = await written(t, 'carts', MONGODB);
    assert.match(played, SAMPLES_FIT);
    assert.deepEqual(
      [binding, fields],
      [
        'envelope: MONGODB, match: [{ arg: "id", path: "id" }], tombstone: NULL',
        'id: ID!\nname: String\ntotal: BigInt\ntags: [String]\nop: String',
      ],
      schema,
    );
    assert.deepEqual(await check(), []);
  });

  it('writes the rows of Kafka Connect that have their schema beside them', async (t) => {
    const { binding, fields, schema, check } = await written(t, 'orders', [WRAPPED]);
    assert.deepEqual(
      [binding, fields],
      [
        'envelope: CONNECT, match: [{ arg: "order_id", path: "order_id" }], tombstone: NULL',
        'order_id: ID!\nchanged_at: String',
      ],
      schema,
    );
    assert.deepEqual(await check(), []);
  });

  it('says that records are of several kinds, and writes no envelope', async (t) => {
    const [change] = await recordedTopic('plain', 'rows');
    const { schema, output, check } = await written(t, 'rows', [change!, { key: '1', value: '{"id":1}' }]);
    assert.doesNotMatch(schema, /envelope: [A-Z]/);
    const said =
      /The records are of several kinds, so no envelope was written: 1 are changes of rows, as Debezium and Flink write them .*, 1 are others/;
    assert.match(output, said);
    assert.match(schema, said);
    assert.match(
      (await check()).join('\n'),
      /1 of 2 records are changes of rows, as Debezium and Flink write them \([^)]*\), which the field reads as they are; with envelope: DEBEZIUM the others would be poison/,
    );
  });

  it('crier check names an envelope that is missing, one that is wrong, and paths of the key that the key does not have', async (t) => {
    const messages = await recordedTopic('plain', 'rows');
    const { schema, check } = await written(t, 'rows', messages);
    const changed = async (from: string | RegExp, to: string) => {
      const text = rebound(schema, from, to);
      return (await check(/envelope:/.test(text.split('@kafka')[1]!.split('\n')[0]!) ? text : withoutOp(text))).join(
        '\n',
      );
    };
    assert.match(
      await changed('envelope: DEBEZIUM, before: WHOLE, ', ''),
      /^failed +records: [^\n]*Subscription\.row: the records are changes of rows, as Debezium and Flink write them \(before, after, op\); write envelope: DEBEZIUM in @kafka with tombstone: NULL, and paths of the row: [^\n]*$/,
    );
    assert.match(
      await changed(
        /envelope: DEBEZIUM, before: WHOLE, (.*)path: "id"(.*), tombstone: NULL/,
        '$1path: "after.id"$2, payload: "after"',
      ),
      /^warning [^\n]*; write envelope: DEBEZIUM in @kafka with tombstone: NULL, without payload: "after", and paths/,
    );
    assert.match(
      await changed('envelope: DEBEZIUM,', 'envelope: DEBEZIUM_FLAT,'),
      /^failed [^\n]*Subscription\.row: envelope: DEBEZIUM_FLAT, but the records are changes of rows, as Debezium and Flink write them \([^)]*\); write envelope: DEBEZIUM in @kafka$/,
    );
    assert.match(
      await changed('envelope: DEBEZIUM,', 'envelope: OUTBOX,'),
      /^failed [^\n]*envelope: OUTBOX, but the records are changes of rows/,
    );
    assert.match(
      await changed('path: "id"', 'key: "row_id"'),
      /^failed [^\n]*match of "id": the record has a key that is a struct of "id", without a value at "row_id"/,
    );
    assert.match(
      (await check(schema.replace('  customer: String\n', '  customer: String\n  customers: String!\n'))).join('\n'),
      /^failed [^\n]*Row\.customers: the record has no "customers" at the top/,
    );
  });

  it('crier check names an envelope of records that are rows themselves, or of another envelope', async (t) => {
    const rows = await written(t, 'rows', [{ key: '1', value: '{"id":1,"name":"n"}' }]);
    const bare = rebound(rows.schema, 'match:', 'envelope: DEBEZIUM, tombstone: NULL, match:');
    assert.match(
      (await rows.check(bare)).join('\n'),
      /^failed [^\n]*none of the newest records [^\n]* can be decoded \(\d tried\), so its fields deliver nothing: not_envelope \(partition 0, offset \d\); correct the envelope in @kafka: [^\n]*; remove it if a record is the row itself, or bring one of yours in envelopes\.ts$/,
    );
    const documents = await written(t, 'carts', MONGODB);
    assert.match(
      (await documents.check(rebound(documents.schema, 'envelope: MONGODB', 'envelope: DEBEZIUM'))).join('\n'),
      /^failed [^\n]*none of the newest records [^\n]* can be decoded \(\d tried\), so its fields deliver nothing: not_envelope \(partition 0, offset \d\); records are changes of documents by Debezium for MongoDB [^\n]*; write envelope: MONGODB in @kafka$/,
    );
    const outbox = await written(t, 'order', await recordedTopic('outbox', 'order'));
    assert.match(
      (await outbox.check(rebound(outbox.schema, 'envelope: OUTBOX, ', ''))).join('\n'),
      /^failed [^\n]*none of the newest records [^\n]* can be decoded \(\d tried\), so its fields deliver nothing: not_object \(partition 0, offset \d\); records are events of Debezium's outbox router \(a JSON text, or an object with a header id\); write envelope: OUTBOX in @kafka$/,
    );
  });

  it('crier check advises BigInt where a schema has integers of 64 bits and the graph Int', async (t) => {
    const registry = await schemaRegistry(t);
    const messages = await recordedTopic('avro', 'types', registry.url);
    const { schema, check, topic } = await written(t, 'types', messages, registry.url);
    const subject = `${topic}-value`;
    const value = messages.at(-1)!.value as Buffer;
    const found = await fetch(`${registry.url}/schemas/ids/${value.readUInt32BE(1)}`);
    const { schema: text } = (await found.json()) as { schema: string };
    await fetch(`${registry.url}/subjects/${subject}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ schema: text }),
    });
    assert.deepEqual(await check(), []);
    const lines = await check(schema.replace('big: BigInt', 'big: Int').replace(/\n"[^"]*"\nscalar BigInt/, ''));
    assert.match(
      lines[0]!,
      /^warning +schema registry: Type\.big is Int, and \S+ has integers of 64 bits there; make the field BigInt/,
    );
    assert.match(
      lines[1]!,
      /Type\.big: the record has a string at "big", which does not fit the type Int; make the field BigInt \(scalar BigInt\)/,
    );
  });
});
