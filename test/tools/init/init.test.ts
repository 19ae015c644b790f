import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import avsc from 'avsc';
import { freePorts } from '../../../stack/port.ts';
import { checked } from '../../ops/check/checked.ts';
import { startPod } from '../../end-to-end/pod-server.ts';
import { withOutside } from '../../kafka/consumer-harness.ts';
import type { Outside } from '../../kafka/consumer-harness.ts';
import { framed, registerSchema, schemaRegistry } from '../../support/schema-registry.ts';
import { redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { Crier, crier } from '../crier.ts';
import { refusalOf } from '../refusal.ts';

const ORDER = '{"order":{"orderId":"7","status":"PAID","totalCents":1250,"1st":null}}';

const AVRO_ORDER: avsc.Schema = {
  type: 'record',
  name: 'Order',
  fields: [
    { name: 'orderId', type: 'int' },
    { name: 'status', type: { type: 'enum', name: 'Status', symbols: ['PLACED', 'PAID'] } },
    { name: 'totalCents', type: 'long' },
    { name: 'price', type: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 } },
    { name: 'placedAt', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'note', type: ['null', 'string'], default: null },
    { name: 'rating', type: 'double' },
    {
      name: 'lines',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'Line',
          fields: [
            { name: 'sku', type: 'string' },
            { name: 'count', type: 'int' },
          ],
        },
      },
    },
  ],
};

const USAGE_ERRORS: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [[], /expected the folder of the graph/],
  [['g', '--topic', 'a b'], /--topic: expected letters, digits, ".", "_" and "-", got "a b"/],
  [['g', 'h', '--topic', 'x'], /unexpected argument "h"; crier init takes one,/],
];

const FILE_ERRORS: readonly (readonly [text: string, message: RegExp])[] = [
  ['', /is empty; expected JSON objects/],
  ['[1]', /item 1: expected a JSON object, got a number/],
  ['"x"', /the value: expected a JSON object, got a string/],
  [`${ORDER}\n\n{"a":`, /line 3: not JSON; write one object, an array of objects, or an object on each line/],
  ['null\n', /has no record with a value/],
  [`{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`, /the value: more than 64 levels/],
  [`[{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}]`, /item 1: more than 64 levels/],
];

/** Runs `crier <args>` on a pseudo-terminal, and types the answer at the question. */
async function onTerminal(t: TestContext, args: readonly string[], answer: string) {
  const words = [process.execPath, 'dist/src/main.js', ...args].map((word) => `'${word}'`);
  const child = spawn('script', ['-qec', words.join(' '), '/dev/null'], {
    env: { PATH: process.env['PATH'], NO_COLOR: '1', SHELL: '/bin/sh' },
  });
  t.after(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (!output.includes('sample records (') && `${output}${chunk.toString()}`.includes('sample records ('))
      child.stdin.write(answer);
    output += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output };
}

describe('crier init', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('writes a graph from sample records, whose printed commands deliver an event', async (t) => {
    const folder = join(await temporaryFolder(t), 'my graph');
    const { code, output } = await crier(t, ['init', folder, '--sample', '-'], { input: ORDER });
    assert.equal(code, 0);
    assert.deepEqual((await readdir(folder)).sort(), ['README.md', 'samples.ts', 'schema.graphql']);
    assert.match(await readFile(join(folder, 'schema.graphql'), 'utf8'), /@kafka\([^)]*topic: "my-graph"/);
    assert.ok(output.includes(`npx --no-install crier dev '${folder}'`), output);
    const subscription = /npx --no-install crier tail '(.*)'/.exec(output)![1]!;
    assert.equal(subscription, 'subscription { order(order_id: "7") { order_id status total_cents } }');
    assert.ok((await readFile(join(folder, 'README.md'), 'utf8')).includes(subscription));
    const pod = await startPod(t, { GRAPH: folder });
    const tail = await crier(t, ['tail', subscription, '--url', pod.url, '--count', '1']);
    assert.deepEqual(JSON.parse(tail.output), { order: { order_id: '7', status: 'PAID', total_cents: 1250 } });
    assert.deepEqual(pod.lines, []);
  });

  it('prints JSON: the files, the subscription fields, choices, warnings and commands', async (t) => {
    const folder = join(await temporaryFolder(t), 'graph');
    const { code, output, errors } = await crier(t, ['init', folder, '--sample', '-', '--json'], { input: ORDER });
    assert.deepEqual([code, errors], [0, '']);
    const { commands, ...facts } = JSON.parse(output) as { commands: Readonly<Record<string, string>> };
    assert.deepEqual(facts, {
      topic: 'graph',
      files: ['schema.graphql', 'samples.ts', 'README.md'].map((name) => join(folder, name)),
      fields: [{ field: 'Subscription.order', type: 'Order', arguments: { order_id: 'ID' } }],
      choices: ['order_id was chosen for its name: the records have no keys.'],
      warnings: [],
    });
    assert.deepEqual(Object.keys(commands), ['sample', 'tail', 'live', 'types']);
  });

  it('writes one from the newest records of a topic, and matches on their keys', async (t) => {
    const topic = await outside.createTopic(undefined, 3);
    const settings = { KAFKA_BROKERS: outside.brokers };
    const records = Array.from({ length: 9 }, (_, n) => ({ key: `s${n}`, value: `{"sku":"s${n}","n":${n}}` }));
    await outside.send(topic, records);
    await outside.send(topic, [{ value: 'no JSON' }]);
    const folder = join(await temporaryFolder(t), 'graph');
    const { code, output, errors } = await crier(t, ['init', folder, '--topic', topic], { settings });
    assert.equal(code, 0, errors);
    assert.equal(
      errors,
      'left out: 1 of 10 records cannot be decoded (not_json: plain text); have the producer write a JSON object\n',
    );
    assert.match(output, /from 9 records of the topic/);
    assert.match(output, /^sku is the key of the records, so the events of one subscription are in order\.$/m);
    const schema = await readFile(join(folder, 'schema.graphql'), 'utf8');
    assert.match(schema, /match: \[\{ arg: "sku", path: "sku" \}\]/);
    assert.match(schema, /sku is the key of the records/);
    assert.match(await readFile(join(folder, 'samples.ts'), 'utf8'), /"key": "s8"/);
  });

  it('infers a graph from Avro records of a schema registry, which fits its samples and its topic', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const registry = await schemaRegistry(t);
    const settings = { KAFKA_BROKERS: outside.brokers, SCHEMA_REGISTRY_URL: registry.url };
    const id = await registerSchema(registry.url, `${topic}-value`, { schema: JSON.stringify(AVRO_ORDER) });
    const type = avsc.Type.forSchema(AVRO_ORDER);
    const send = (order: object) =>
      outside.send(topic, [{ key: String(order['orderId' as keyof object]), value: framed(id, type.toBuffer(order)) }]);
    const order = {
      orderId: 7,
      status: 'PAID',
      totalCents: 12_500_000_000,
      price: Buffer.from([0x04, 0xe2]),
      placedAt: 1_700_000_000_000,
      note: null,
      rating: 0.5,
      lines: [{ sku: 's1', count: 2 }],
    };
    await send(order);
    await send({ ...order, orderId: 8, note: 'fragile' });
    const folder = join(await temporaryFolder(t), 'graph');
    const { code, output, errors } = await crier(t, ['init', folder, '--topic', topic], { settings });
    assert.deepEqual([code, errors], [0, '']);
    assert.match(output, /^written: .*, from 2 records of the topic/);
    assert.match(output, /KAFKA_BROKERS=\S+ REDIS_URL=\S+ SCHEMA_REGISTRY_URL=\S+ npx --no-install crier start/);
    const schema = await readFile(join(folder, 'schema.graphql'), 'utf8');
    const fields = [...schema.matchAll(/^ {2}(\w+): (\S+)$/gm)].map(([, name, type]) => `${name}: ${type}`);
    assert.deepEqual(fields, [
      'order_id: ID!',
      'status: Status',
      'total_cents: BigInt!',
      'price: String!',
      'placed_at: String',
      'note: String',
      'rating: Float',
      'lines: [Line!]!',
      'sku: String!',
      'count: Int!',
    ]);
    assert.match(schema, /order_id is the key of the records/);
    const samples = await readFile(join(folder, 'samples.ts'), 'utf8');
    assert.match(samples, /"price": "12\.50",\s+"placedAt": "2023-11-14T22:13:20Z",\s+"note": null/);
    const played = await checked({ GRAPH: folder });
    assert.match(played.lines.join('\n'), /^ok +records: the first samples fit the graph$/m);
    const redis = await redisServer(t);
    const served = await checked({ ...settings, GRAPH: folder, REDIS_URL: redis.url });
    const found = served.lines.join('\n');
    assert.equal(served.hasFailed, false, found);
    assert.match(found, /^ok +schema registry: the newest schema of \S+ has all fields that the graph reads$/m);
    assert.match(found, /^ok +records: .* fit the graph \(2 compared\)$/m);
  });

  it('leaves out keys that are no text', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const key = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0xff]);
    await outside.send(topic, [{ key, value: ORDER }]);
    const folder = join(await temporaryFolder(t), 'graph');
    const { errors } = await crier(t, ['init', folder, '--topic', topic], {
      settings: { KAFKA_BROKERS: outside.brokers },
    });
    assert.equal(errors, '');
    assert.doesNotMatch(await readFile(join(folder, 'samples.ts'), 'utf8'), /"key"/);
  });

  it('names a topic that is away or empty, brokers that are missing, and those that do not answer', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const folder = join(await temporaryFolder(t), 'graph');
    const refusal = async (name: string, brokers: string) => {
      const settings = brokers === '' ? {} : { KAFKA_BROKERS: brokers };
      const { code, errors } = await crier(t, ['init', folder, '--topic', name], { settings });
      assert.equal(code, 1, errors);
      return errors;
    };
    assert.match(
      await refusal(`${topic}x`, outside.brokers),
      new RegExp(`does not exist, or may not be seen; did you mean "${topic}"\\?`),
    );
    assert.match(await refusal(topic, outside.brokers), /has no record with a value; write one first, or add --sample/);
    assert.match(await refusal(topic, ''), /KAFKA_BROKERS: expected host:port/);
    const [port] = await freePorts(1);
    assert.match(await refusal(topic, `127.0.0.1:${port}`), /ECONNREFUSED/);
    assert.deepEqual(
      await crier(t, ['publish', topic, '--text'], { settings: { KAFKA_BROKERS: outside.brokers }, input: 'x\n' }),
      {
        code: 0,
        output: '',
        errors: 'written: 1\n',
      },
    );
    assert.match(
      await refusal(topic, outside.brokers),
      /none of the 1 newest records .* can be decoded \(not_json: plain text\); have the producer write a JSON object/,
    );
  });

  it('replaces no file, and names those that exist', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'samples.ts'), 'mine');
    const refusal = await refusalOf(['init', folder, '--sample', '-']);
    assert.notEqual(refusal.code, 'ERR_USAGE');
    assert.match(refusal.message, /^\S+samples\.ts: exists, and is not replaced; choose another folder, or remove it$/);
    assert.deepEqual(await readdir(folder), ['samples.ts']);
  });

  it('says what it needs where nobody can answer, and names arguments that are wrong', async (t) => {
    const { code, errors } = await crier(t, ['init', 'g']);
    assert.equal(code, 2, errors);
    assert.match(errors, /expected --topic <name>, or --sample <file>/);
    for (const [args, message] of USAGE_ERRORS) {
      const refusal = await refusalOf(['init', ...args]);
      assert.equal(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
    }
  });

  it('asks for a topic or a file on a terminal, and says what it needs without an answer', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'records.json');
    await writeFile(file, ORDER);
    for (const [name, answer, code, output] of [
      ['file', `${file}\n`, 0, /written: .* from one record in "records.json"/],
      ['topic', 'orders\n', 1, /KAFKA_BROKERS: expected host:port/],
      ['nothing', '\n', 2, /expected --topic <name>/],
      ['end of input', '\x04', 2, /expected --topic <name>/],
      ['interrupt', '\x03', 2, /expected --topic <name>/],
    ] as const) {
      const asked = await onTerminal(t, ['init', join(folder, name)], answer);
      assert.deepEqual([name, asked.code], [name, code], asked.output);
      assert.match(asked.output, output);
    }
  });

  it('names the line or the item of a file that is no record', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'records.json');
    for (const [text, message] of FILE_ERRORS) {
      await writeFile(file, text);
      const refusal = await refusalOf(['init', join(folder, 'graph'), '--sample', file]);
      assert.notEqual(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
      assert.ok(refusal.message.includes('records.json'));
    }
    const { errors } = await crier(t, ['init', join(folder, 'graph'), '--sample', join(folder, 'none.json')]);
    assert.match(errors, /^crier: --sample: there is no file .*none\.json\n$/);
    const near = await refusalOf(['init', join(folder, 'graph'), '--sample', join(folder, 'record.json')]);
    assert.match(near.message, /record\.json; did you mean "records\.json"\?$/);
    assert.deepEqual(await readdir(folder), ['records.json']);
  });

  it('takes an array of records, lines with a byte order mark and with CRLF, and skips null', async (t) => {
    const folder = await temporaryFolder(t);
    for (const [i, input] of [`[${ORDER},null,${ORDER}]`, `\uFEFF${ORDER}\r\n${ORDER}\r\nnull\r\n`].entries()) {
      const { output } = await crier(t, ['init', join(folder, `graph${i}`), '--sample', '-'], { input });
      assert.match(output, /from 2 records of standard input/);
    }
  });

  it('is listed with its usage', async (t) => {
    const { output } = await crier(t, ['init', '--help']);
    assert.match(output, /^Writes a graph for a topic[^]*Usage: crier init <folder>/);
    const help = new Crier(t, ['--help']);
    await help.ended;
    assert.match(help.output, /init +writes a graph/);
  });
});
