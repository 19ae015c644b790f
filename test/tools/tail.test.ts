import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { freePorts } from '../../stack/port.ts';
import { createTopics } from '../../stack/topics.ts';
import { randomName, redisServer } from '../support/services.ts';
import { Crier, crier } from './crier.ts';
import { refusalOf } from './refusal.ts';

const COUNTED = 'subscription { counted(key: "a") { n } }';

const valuesOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `{"key":"a","n":${from + i}}\n`).join('');

describe('crier tail and crier publish', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('prints each event once, in order, while the pod is replaced', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const name = randomName('tail');
    const [port] = await freePorts(1);
    const schema = `
      type Subscription {
        counted(key: ID!): Counted @kafka(topic: "${topic}", match: [{ arg: "key", path: "key" }], history: {})
      }
      type Counted { key: ID, n: Int }
    `;
    const settings = {
      GRAPH: await graphFolder(t, { 'schema.graphql': schema }),
      PORT: String(port),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
    };
    const publish = (input: string) =>
      crier(t, ['publish', topic, '--key', 'key'], { settings: { KAFKA_BROKERS: outside.brokers }, input });
    const one = await startPod(t, settings);
    const tail = new Crier(t, ['tail', COUNTED, '--url', `http://127.0.0.1:${port}`, '--count', '30']);
    await tail.until('the connection', () => tail.errors.includes('connected to'));
    await one.counts('crier_subscriptions', 1);
    assert.deepEqual(await publish(valuesOf(0, 10)), { code: 0, output: '', errors: 'written: 10\n' });
    await tail.until('10 events', () => tail.lines.length === 10);
    await one.stop();
    await publish(valuesOf(10, 10));
    await startPod(t, settings);
    await tail.until('20 events', () => tail.lines.length === 20);
    await publish(valuesOf(20, 10));
    assert.equal(await tail.ended, 0);
    const printed = tail.lines.map((line) => (JSON.parse(line) as { counted: { n: number } }).counted.n);
    assert.deepEqual(
      printed,
      Array.from({ length: 30 }, (_, n) => n),
    );
    assert.match(tail.errors, /the connection was closed: 1001 .*; connecting again\nconnected again\n/);
    const [first] = await outside.readAll(topic, 1);
    assert.equal(first!.key!.toString(), 'a');
  });

  it('names the mistake of an operation or of the address', async (t) => {
    const schema = 'type Subscription { a: Int @kafka(topic: "a") }';
    const pod = await startPod(t, { GRAPH: await graphFolder(t, { 'schema.graphql': schema }) });
    const [unused] = await freePorts(1);
    for (const [args, code, message] of [
      [['{ b }', '--url', pod.url], 1, /Cannot query field "b" on type "Query"/],
      [
        ['{ a', '--url', pod.url],
        2,
        /^crier: <subscription>:1:4: Syntax Error: .* The \{ of line 1 is not closed: add a \}\.\n/,
      ],
      [
        ['subscription { a('],
        2,
        /^crier: <subscription>:1:18: Syntax Error: .* The \( of line 1 is not closed: add a \)\.\n/,
      ],
      [['{ a }', '--url', `http://127.0.0.1:${unused}`], 1, /cannot connect to .*ECONNREFUSED.*is crier running/],
      [
        ['{ a }', '--url', pod.admin],
        1,
        /cannot connect to .*: 404 Not Found: not found; GraphQL is on PORT; there are /,
      ],
      [
        ['{ a }', '--url', pod.url.replace(/graphql$/, 'ws')],
        1,
        /: 404 Not Found: No WebSocket here; it is at \/graphql; /,
      ],
      [
        ['{ a }', '--url', pod.url.replace('ws:', 'wss:')],
        1,
        /; the server speaks no TLS there: write ws:\/\/ in --url$/m,
      ],
    ] as const) {
      const ended = await crier(t, ['tail', ...args]);
      assert.equal(ended.code, code, ended.errors);
      assert.match(ended.errors, message);
      assert.doesNotMatch(ended.errors, /^\s+at /m);
    }
    for (const [args, message] of [
      [['{ a }', '--url', 'localhost'], /--url: expected a URL such as/],
      [['query A { a } query B { a }'], /^<subscription>: expected one operation, got A, B$/],
      [['fragment F on Query { a }'], /^<subscription>: expected one operation, got none$/],
      [
        ['order { status }'],
        /Unexpected Name "order"[^]*\n\nBegin with the word subscription: subscription \{ order … \}$/,
      ],
      [['{ a }', '--variables', '[1]'], /--variables: expected a JSON object such as \{"id":"1"\}, got/],
      [['{ a }', '--header', 'x'], /--header: expected "name: value"/],
      [['{ a }', '--count', '0'], /--count: expected a whole number/],
      [[], /expected a subscription/],
    ] as const) {
      const refusal = await refusalOf(['tail', ...args]);
      assert.equal(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
    }
    const { code, output } = await crier(t, ['tail', '{ __typename }', '--url', pod.url, '--whole']);
    assert.deepEqual([code, output], [0, '{"data":{"__typename":"Query"}}\n']);
  });

  it('ends with the reason of a refused token, instead of connecting for ever', async (t) => {
    const schema = 'type Subscription { a: Int @kafka(topic: "a") }';
    const GRAPH = await graphFolder(t, { 'schema.graphql': schema });
    const pod = await startPod(t, { GRAPH, JWT_SECRET: 'x'.repeat(32) });
    const refused = await crier(t, ['tail', 'subscription { a }', '--url', pod.url, '--token', 'not a token']);
    assert.equal(refused.code, 1);
    assert.match(refused.errors, /the connection was closed: 4403 .+; --token or --header sends another token\n$/);
  });

  it('ends when nobody reads its output any more', async (t) => {
    const files = {
      'schema.graphql': 'type Subscription { a: Int @kafka(topic: "a", payload: "a") }',
      'samples.js': 'export function* records() { for (;;) yield { topic: "a", value: { a: 1 } }; }',
    };
    const pod = await startPod(t, { GRAPH: await graphFolder(t, files) });
    const tail = new Crier(t, ['tail', 'subscription { a }', '--url', pod.url]);
    await tail.until('an event', () => tail.lines.length > 0);
    tail.process.stdout.destroy();
    assert.equal(await tail.ended, 0);
  });

  it('creates a missing topic with --create, once', async (t) => {
    const topic = randomName('created');
    const settings = { KAFKA_BROKERS: outside.brokers };
    const publish = (input: string) => crier(t, ['publish', topic, '--create'], { settings, input });
    assert.deepEqual(await publish('{"n":1}\n'), { code: 0, output: '', errors: `created: ${topic}\nwritten: 1\n` });
    assert.deepEqual(await publish('{"n":2}\n'), { code: 0, output: '', errors: 'written: 1\n' });
    const json = (input: string) => crier(t, ['publish', topic, '--json'], { settings, input });
    assert.deepEqual(await json('{"n":3}\n'), { code: 0, output: `{"topic":"${topic}","written":1}\n`, errors: '' });
    const refused = await json('{"n":4}\n{"n":\n');
    const { error, ...outcome } = JSON.parse(refused.output) as { error: string };
    assert.deepEqual([refused.code, outcome], [1, { topic, written: 1 }]);
    assert.match(error, /^line 2 is not JSON: .*; each record must be one line, as jq -c \. prints them$/);
    assert.equal(refused.errors, `crier: ${error}\n`);
    assert.equal((await outside.readAll(topic, 4)).length, 4);
  });

  it('writes tombstones, and keys that are JSON objects, by their bytes', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = { KAFKA_BROKERS: outside.brokers };
    const publish = async (args: readonly string[], input: string) => {
      const ended = await crier(t, ['publish', topic, ...args], { settings, input });
      assert.equal(ended.code, 0, ended.errors);
    };
    await publish(['--key', 'key'], '{ "key": { "id": 9007199254740993, "b": [1.50, "x y"] }, "n": 1 }\n');
    await publish(['--key-separator', '\\t'], '{"id": 9007199254740993, "b": [1.50, "x y"]}\t\r\n7\t{"n":2}\n7\t\n\n');
    await publish(['--key-separator', '|', '--text'], '7|a|b\n7|\n');
    const records = await outside.readAll(topic, 6);
    const struct = '{"id":9007199254740993,"b":[1.50,"x y"]}';
    assert.deepEqual(
      records.map(({ key, value }) => [key!.toString(), value && value.toString()]),
      [
        [struct, '{ "key": { "id": 9007199254740993, "b": [1.50, "x y"] }, "n": 1 }'],
        [struct, null],
        ['7', '{"n":2}'],
        ['7', null],
        ['7', 'a|b'],
        ['7', null],
      ],
    );
  });

  it('says of a compacted topic that its records need a key', async (t) => {
    const topic = randomName('compacted');
    const configEntries = [{ name: 'cleanup.policy', value: 'compact' }];
    await createTopics(outside.brokers, [{ topic, numPartitions: 1, configEntries }]);
    const settings = { KAFKA_BROKERS: outside.brokers };
    const { code, errors } = await crier(t, ['publish', topic], { settings, input: '{"id":1}\n' });
    assert.equal(code, 1);
    assert.match(
      errors,
      /^crier: the brokers refuse records of the topic "compacted-\w+" without a key, .*; --key <path>/m,
    );
    assert.equal((await crier(t, ['publish', topic, '--key', 'id'], { settings, input: '{"id":1}\n' })).code, 0);
  });

  it('prints how many lines are written where one is refused, or Kafka refuses them', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = { KAFKA_BROKERS: outside.brokers };
    const refused = await crier(t, ['publish', topic], { settings, input: '{"a":1}\n{"a":2}\n{oops\n{"a":4}\n' });
    assert.match(refused.errors, /^crier: line 3 is not JSON: .*\nwritten: 2\n$/);
    await outside.limitMessages(topic, 2000);
    const running = new Crier(t, ['publish', topic], settings);
    running.process.stdin.write('{"a":3}\n');
    await outside.readAll(topic, 3);
    running.process.stdin.end(`{"a":4}\n{"a":"${'x'.repeat(5000)}"}\n`);
    assert.equal(await running.ended, 1);
    assert.match(running.errors, /^crier: .*larger than.*\nwritten: 1, and perhaps some of the next 2\n$/);
    const input = `{"a":6}\n{"a":"${'x'.repeat(5000)}"}\n`;
    const json = await crier(t, ['publish', topic, '--json'], { settings, input });
    const { error, ...outcome } = JSON.parse(json.output) as { error: string };
    assert.deepEqual([json.code, outcome], [1, { topic, written: 0, unknown: 2 }]);
    assert.equal(json.errors, `crier: ${error}\n`);
  });

  it('names KAFKA_BROKERS and their addresses where nobody listens', async (t) => {
    const settings = { KAFKA_BROKERS: '127.0.0.1:1' };
    const { code, errors } = await crier(t, ['publish', 'orders'], { settings, input: '{}\n' });
    assert.equal(code, 1);
    assert.match(
      errors,
      /^crier: no connection to 127\.0\.0\.1:1: .*ECONNREFUSED.*; correct KAFKA_BROKERS, or the network\n$/,
    );
  });

  it('prints the error as JSON, with --json, where no line could be written', async (t) => {
    const outcomes = [
      [{ KAFKA_BROKERS: '127.0.0.1:1' }, /^no connection to 127\.0\.0\.1:1: .*ECONNREFUSED/],
      [{ KAFKA_BROKERS: outside.brokers }, /^the topic "absent" does not exist.*; --create creates it$/],
      [{}, /^KAFKA_BROKERS: expected host:port/],
      [{ KAFKA_BROKERS: 'nowhere' }, /^KAFKA_BROKERS: /],
    ] as const;
    for (const [settings, message] of outcomes) {
      const { code, output, errors } = await crier(t, ['publish', 'absent', '--json'], { settings, input: '{}\n' });
      assert.equal(code, 1);
      const { error, ...outcome } = JSON.parse(output) as { error: string };
      assert.deepEqual(outcome, { topic: 'absent', written: 0 });
      assert.match(error, message);
      assert.equal(errors, `crier: ${error}\n`);
    }
  });

  it('writes the lines before one that is refused, and names its number', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = { KAFKA_BROKERS: outside.brokers };
    const mistakes = [
      [[topic], '{"a":1}\r\n\n{"a":2}\n{oops\n{"a":4}\n', 1, /^crier: line 4 is not JSON: /],
      [
        [topic, '--key', 'a.b'],
        '{"a":{"c":1}}\n',
        1,
        /line 1: --key a\.b: expected a string, a number or an object there/,
      ],
      [[topic, '--key', 'order_id'], '{"data":{"orderId":1}}\n', 1, /got nothing; did you mean "data\.orderId"\?$/m],
      [[randomName('absent')], '{}\n', 1, /the topic "absent-.*" does not exist.*; --create creates it$/m],
      [[`${topic}x`], '{}\n', 1, new RegExp(`may not be seen; did you mean "${topic}"\\?; --create creates it`)],
      [[], '{}\n', 2, /expected the name of a topic/],
      [
        [topic, 'a.jsonl'],
        '',
        2,
        new RegExp(`records come from standard input: crier publish ${topic} < a\\.jsonl$`, 'm'),
      ],
      [
        [topic],
        '[{"a":1},{"a":2}]\n',
        1,
        /line 1: a record is a JSON object, got an array; each record must be one line, as jq -c '\.\[\]' prints them; --text/,
      ],
      [[topic], '5\n', 1, /line 1: a record is a JSON object, got a number; --text writes any text$/m],
      [
        [topic],
        '[\n  {"a":1}\n]\n',
        1,
        /line 1 is not JSON: .*; each record must be one line, as jq -c '\.\[\]' prints them$/m,
      ],
      [
        [topic],
        '{\n  "a": 1\n}\n',
        1,
        /line 1 is not JSON: .*; each record must be one line, as jq -c \. prints them$/m,
      ],
      [[topic], 'oops\n', 1, /line 1 is not JSON: .*; --text writes any text$/m],
      [[topic], 'null\n', 1, /line 1: null is a JSON value and no tombstone: .* give its key with --key-separator/],
      [[topic, '--key', 'id'], 'null\n', 1, /line 1: null is a JSON value and no tombstone/],
      [[topic, '--key', 'a'], '{"a":[1]}\n', 1, /--key a: expected a string, a number or an object there, got \[1\]/],
      [[topic, '--key-separator', '|'], '7|null\n', 1, /no tombstone: .* end the line after the separator/],
      [[topic, '--key-separator', '|'], '7\n', 1, /line 1: expected a key, "\|" and a value; a tombstone ends/],
      [[topic, '--key-separator', '|'], '|{}\n', 1, /line 1: expected a key before "\|"/],
      [[topic, '--key-separator', '|'], '7|b|{}\n', 1, /line 1 is not JSON after the first "\|": /],
      [
        [topic, '--key-separator', ':'],
        '{"id":7}:{}\n',
        1,
        /the key before the first ":" is no JSON object: \{"id"; choose/,
      ],
      [[topic, '--key-separator', '|', '--key', 'a'], '{}\n', 2, /the lines have their keys; leave out --key/],
      [[topic, '--key-separator', ''], '{}\n', 2, /--key-separator: expected a text/],
    ] as const;
    for (const [args, input, code, message] of mistakes) {
      const ended = await crier(t, ['publish', ...args], { settings, input });
      assert.equal(ended.code, code, ended.errors);
      assert.match(ended.errors, message);
    }
    const { errors } = await crier(t, ['publish', topic], { input: '{}' });
    assert.match(errors, /KAFKA_BROKERS: expected host:port.*samples\.ts/);
    const text = await crier(t, ['publish', topic, '--text', '--header', 'tenant: a'], { settings, input: 'last' });
    assert.equal(text.code, 0);
    const records = await outside.readAll(topic, 3);
    assert.deepEqual(
      records.map(({ value }) => value!.toString()),
      ['{"a":1}', '{"a":2}', 'last'],
    );
    assert.equal(String(records[2]!.headers!['tenant']), 'a');
  });
});
