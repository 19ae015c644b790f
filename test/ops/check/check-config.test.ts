import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import kafkajs from 'kafkajs';
import { freePorts } from '../../../stack/port.ts';
import { requiredCommands } from '../../../src/ops/check/redis-rights.ts';
import { spawnPod } from '../../end-to-end/pod-process.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { kafkaBrokers, randomName, redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { checked } from './checked.ts';

/** No server listens there, because port 1 is reserved. */
const UNUSED_ADDRESS = '127.0.0.1:1';

/** The user of docs/operate/redis.md. */
const RIGHTS = /`(resetchannels [^`]+)`/.exec(readFileSync('docs/operate/redis.md', 'utf8'))![1]!.split(' ');

async function check(t: TestContext, settings: Readonly<Record<string, string>>) {
  const pod = spawnPod(t, settings, { arguments: ['check'] });
  const code = await pod.ended;
  assert.equal(pod.log, '');
  return { code, lines: pod.output.split('\n').filter((line) => /^(ok|warning|failed|skipped) /.test(line)) };
}

/** A Kafka with a topic, a Redis, and the settings of a pod that uses both. */
async function startStage(t: TestContext) {
  const brokers = await kafkaBrokers({ after: (fn) => t.after(fn) });
  const topic = randomName('check');
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  t.after(() => admin.disconnect());
  await admin.createTopics({ topics: [{ topic }], waitForLeaders: false });
  const redis = await redisServer(t);
  const client = new Redis(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
  t.after(() => client.disconnect());
  const settings = {
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: randomName('group'),
    KAFKA_DEAD_LETTER_TOPIC: randomName('dead'),
    REDIS_URL: redis.url,
    GRAPH: await graphOf(t, topic),
  };
  return { brokers, topic, admin, redis, client, settings };
}

function graphOf(t: TestContext, topic: string): Promise<string> {
  const schema = `type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "${topic}") }`;
  return graphFolder(t, { 'schema.graphql': schema });
}

function publishingGraph(t: TestContext, topic: string): Promise<string> {
  const schema = `
    type Order { id: ID }
    type Accepted { topic: String }
    type Mutation { say(id: ID!): Accepted! @kafkaPublish(topic: "${topic}", key: "id") }
    type Subscription { order: Order @kafka(topic: "orders") }`;
  return graphFolder(t, { 'schema.graphql': schema });
}

function assertLines(lines: readonly string[], expected: readonly RegExp[]): void {
  assert.equal(lines.length, expected.length, lines.join('\n'));
  expected.forEach((pattern, i) => assert.match(lines[i]!, pattern));
}

describe('crier check', { concurrency: 2 }, () => {
  it('exits with 0 and leaves no topic, no group and no key where a pod can start', async (t) => {
    const { brokers, topic, admin, redis, client, settings } = await startStage(t);
    const { code, lines } = await check(t, settings);
    assertLines(lines, [
      /^ok {7}settings: ROLE=all$/,
      /^ok {7}graph: ".*" with 1 subscription fields?$/,
      new RegExp(`^ok {7}Kafka: connected to ${brokers}$`),
      new RegExp(`^ok {7}Kafka: the topics of the graph exist, and this user may read them: ${topic}$`),
      new RegExp(`^ok {7}Kafka: this user may join the group ${settings.KAFKA_GROUP_ID}$`),
      new RegExp(`^ok {7}Kafka: the dead-letter topic ${settings.KAFKA_DEAD_LETTER_TOPIC} .*creates it`),
      new RegExp(`^ok {7}Redis: connected to 127\\.0\\.0\\.1:${redis.port}, version \\d`),
      /^ok {7}Redis: this user has the rights/,
    ]);
    assert.equal(code, 0);
    assert.ok(!(await admin.listTopics()).includes(settings.KAFKA_DEAD_LETTER_TOPIC));
    assert.ok(!(await admin.listGroups()).groups.some(({ groupId }) => groupId === settings.KAFKA_GROUP_ID));
    assert.deepEqual(await client.keys('*'), []);
  });

  it('reports all mistakes in settings and graph at once, and exits with 1', async (t) => {
    const GRAPH = await graphFolder(t, {
      'schema.graphql': 'type Order { id: ID }\ntype Subscription {\n  one: Order\n  two: Order\n}',
    });
    const { code, lines } = await check(t, { GRAPH, PORT: 'http', ROLE: 'both', MAX_QUEU_BYTES: '1' });
    assertLines(lines, [
      /^failed {3}ROLE: expected/,
      /^failed {3}PORT: expected a port/,
      /^failed {3}MAX_QUEU_BYTES is not a setting; did you mean "MAX_QUEUE_BYTES"\?$/,
      /^failed {3}schema\.graphql:3: Subscription\.one: has no source/,
      /^failed {3}schema\.graphql:4: Subscription\.two: has no source/,
      /^skipped {2}Kafka and Redis: the settings must be corrected first$/,
    ]);
    assert.equal(code, 1);
  });

  it('names a variable that may be of another program as a warning, and exits with 0', async () => {
    const { hasFailed, lines } = await checked({ KAFKA_HEAP_OPTS: '-Xmx1g' });
    assertLines(lines, [
      /^ok {7}settings: embedded$/,
      /^warning {2}KAFKA_HEAP_OPTS is not a setting/,
      /^ok {7}graph: "auction" with/,
      /^ok {7}records: the first samples fit the graph$/,
      /^skipped {2}Kafka and Redis: not used in the embedded mode$/,
    ]);
    assert.equal(hasFailed, false);
  });

  it('warns of samples that nobody receives, and of a query that is always null', async (t) => {
    const schema = 'type Query { count: Int } type Subscription { order: Int @kafka(topic: "orders", payload: "n") }';
    const samples = `export function* records() { for (;;) yield { topic: 'order', value: { n: 1 } }; }`;
    const GRAPH = await graphFolder(t, { 'schema.graphql': schema, 'samples.ts': samples });
    const { hasFailed, lines } = await checked({ GRAPH });
    assertLines(lines, [
      /^ok {7}settings: embedded$/,
      /^ok {7}graph: /,
      /^warning {2}schema\.graphql:1: Query\.count: has no resolver, so it would always be null/,
      /^warning {2}records: samples\.ts yields a record .* no field of the graph reads the topic "order".*; did you mean "orders"\?$/,
      /^skipped {2}Kafka and Redis: /,
    ]);
    assert.equal(hasFailed, false);
  });

  it('names samples that fail, and samples without a record', async (t) => {
    const schema = 'type Subscription { order: Int @kafka(topic: "orders", payload: "n") }';
    const lineOf = async (samples: string) => {
      const GRAPH = await graphFolder(t, { 'schema.graphql': schema, 'samples.ts': samples });
      return (await checked({ GRAPH })).lines.find((line) => line.includes('records()')) ?? '';
    };
    assert.match(
      await lineOf('export function records() {}'),
      /^failed {3}records: records\(\) of the samples failed: samples\.ts: records\(\) returns no iterable; write .*; correct it in samples\.ts$/,
    );
    assert.match(
      await lineOf('export function* records() {}'),
      /^warning {2}records: records\(\) of samples\.ts yields none, so no event will come; yield \{ topic, value \}$/,
    );
  });

  it('prints a code frame as a part of its finding', async (t) => {
    const files = {
      'schema.graphql': 'type Subscription { order: Int @kafka(topic: "orders") }',
      'resolvers.ts': 'const a = ;',
      'context.ts': 'const b = ;',
    };
    const { lines } = await checked({ GRAPH: await graphFolder(t, files) });
    assertLines(lines, [
      /^ok {7}settings: embedded$/,
      /^failed {3}resolvers\.ts:1: Unexpected token$/,
      /^$/,
      /^ {9}> 1 \| const a = ;$/,
      /^ {9} {4}\| +\^$/,
      /^failed {3}context\.ts:1: Unexpected token$/,
      /^$/,
      /^ {9}> 1 \| const b = ;$/,
      /^ {9} {4}\| +\^$/,
      /^skipped {2}Kafka and Redis: /,
    ]);
  });

  it('warns if nobody is authenticated in production', async () => {
    const { hasFailed, lines } = await checked({ NODE_ENV: 'production', EMBEDDED: 'true' });
    assert.equal(hasFailed, false);
    assert.ok(
      lines.some((line) => /^warning {2}nobody is authenticated: .*AUTH=none/.test(line)),
      lines.join('\n'),
    );
  });

  it('fails for a graph that needs claims, if connections have none', async (t) => {
    const GRAPH = await graphFolder(t, {
      'schema.graphql':
        'type Order { id: ID owner: ID }\n' +
        'type Subscription { order: Order @kafka(topic: "orders", where: { claim: "sub", path: "owner" }) }',
    });
    const { hasFailed, lines } = await checked({ GRAPH });
    assert.equal(hasFailed, true, lines.join('\n'));
    const failures = lines.filter((line) => line.startsWith('failed'));
    assertLines(failures, [/^failed {3}Subscription\.order is only for connections with claims, .*JWT_JWKS_URL/]);
    const withKeys = await checked({ GRAPH, JWT_SECRET: 'x'.repeat(64), JWT_ALGORITHMS: 'HS256' });
    assert.equal(withKeys.hasFailed, false, withKeys.lines.join('\n'));
    const worker = await checked({ GRAPH, ROLE: 'worker' });
    assert.doesNotMatch(worker.lines.join('\n'), /only for connections with claims/);
  });

  it('reads TUNABLES_FILE after the graph, which may register a provider of OpenTelemetry', async (t) => {
    const api = pathToFileURL(createRequire(import.meta.url).resolve('@opentelemetry/api')).href;
    const GRAPH = await graphFolder(t, {
      'schema.graphql': 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }',
      'resolvers.js': `import api from '${api}';\napi.trace.setGlobalTracerProvider({ getTracer: () => ({}) });\n`,
    });
    const TUNABLES_FILE = join(GRAPH, 'tunables.json');
    await writeFile(TUNABLES_FILE, '{ "OTEL_TRACES_SAMPLER_ARG": 0.5 }');
    const { code, lines } = await check(t, { GRAPH, TUNABLES_FILE });
    assertLines(lines, [
      /^ok {7}settings: embedded$/,
      /^ok {7}graph: /,
      /^ok {7}TUNABLES_FILE: .* sets 1 setting: OTEL_TRACES_SAMPLER_ARG$/,
      /^skipped {2}Kafka and Redis: /,
    ]);
    assert.equal(code, 0);
  });

  it('names all backends without a URL in one line', async () => {
    const { hasFailed, lines } = await checked({ ROLE: 'gateway', REDIS_URL: `redis://${UNUSED_ADDRESS}` });
    const warnings = lines.filter((line) => line.startsWith('warning'));
    assertLines(warnings, [
      /^warning {2}fields that use these backends fail, because no URL is set: BACKEND_\w+_URL, /,
    ]);
    assert.equal(hasFailed, true);
  });

  it('names Kafka and Redis on a wrong port', async (t) => {
    const { settings } = await startStage(t);
    const wrong = { KAFKA_BROKERS: UNUSED_ADDRESS, REDIS_URL: `redis://:hunter2@${UNUSED_ADDRESS}` };
    const { hasFailed, lines } = await checked({ ...settings, ...wrong });
    assertLines(lines.slice(2), [
      /^failed {3}Kafka: no connection to 127\.0\.0\.1:1: .*ECONNREFUSED.*; correct KAFKA_BROKERS/,
      /^skipped {2}Kafka: /,
      /^failed {3}Redis: no connection to 127\.0\.0\.1:1: .*ECONNREFUSED.*; correct REDIS_URL/,
      /^skipped {2}Redis: /,
    ]);
    assert.doesNotMatch(lines.join('\n'), /hunter2/);
    assert.equal(hasFailed, true);
  });

  it('names a topic of the graph that does not exist', async (t) => {
    const { settings } = await startStage(t);
    const missing = randomName('missing');
    const { hasFailed, lines } = await checked({ ...settings, GRAPH: await graphOf(t, missing) });
    const failures = lines.filter((line) => line.startsWith('failed'));
    assertLines(failures, [new RegExp(`^failed {3}Kafka: topics .* do not exist.*: ${missing}; create them`)]);
    assert.equal(hasFailed, true);
  });

  it('tries no Kafka for a gateway', async (t) => {
    const redis = await redisServer(t);
    const { hasFailed, lines } = await checked({ ROLE: 'gateway', REDIS_URL: redis.url });
    assert.ok(lines.includes('skipped  Kafka: not used with ROLE=gateway'));
    assert.equal(hasFailed, false);
  });

  it('tries the topics of mutations for a gateway, and neither a group nor a dead-letter topic', async (t) => {
    const { brokers, topic, redis } = await startStage(t);
    const missing = randomName('missing');
    const settings = { ROLE: 'gateway', REDIS_URL: redis.url, KAFKA_BROKERS: brokers };
    const kafkaLines = (lines: readonly string[]) =>
      lines.filter((line) => line.includes('KAFKA_BROKERS') || / Kafka: /.test(line));

    const writable = await checked({ ...settings, GRAPH: await publishingGraph(t, topic) });
    assertLines(kafkaLines(writable.lines), [/^ok +Kafka: connected/, new RegExp(`^ok .* may write to .*: ${topic}$`)]);
    assert.equal(writable.hasFailed, false);

    const absent = await checked({ ...settings, GRAPH: await publishingGraph(t, missing) });
    assertLines(kafkaLines(absent.lines), [/^ok +Kafka: connected/, new RegExp(`^failed .*: ${missing}; create them`)]);
    assert.equal(absent.hasFailed, true);

    const lost = await checked({ ...settings, KAFKA_BROKERS: '', GRAPH: await publishingGraph(t, topic) });
    assertLines(kafkaLines(lost.lines), [
      /^failed +KAFKA_BROKERS: expected brokers, because Mutation\.say has @kafkaPublish/,
    ]);
    assert.equal(lost.hasFailed, true);
  });

  it('names a node of a Redis Cluster', async (t) => {
    const [clusterPort] = await freePorts(1);
    const flags = ['--cluster-enabled', 'yes', '--cluster-port', `${clusterPort}`, '--dir', await temporaryFolder(t)];
    const redis = await redisServer(t, { flags });
    const { hasFailed, lines } = await checked({ ROLE: 'gateway', REDIS_URL: redis.url });
    assert.ok(
      lines.some((line) => /^failed {3}Redis: .* is a node of a Redis Cluster; write redis\+cluster:\/\//.test(line)),
    );
    assert.equal(hasFailed, true);
  });

  it('names a wrong password of Redis without showing it', async (t) => {
    const redis = await redisServer(t);
    const client = new Redis(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
    t.after(() => client.disconnect());
    await client.config('SET', 'requirepass', 'secret');
    const { hasFailed, lines } = await checked({
      ROLE: 'gateway',
      REDIS_URL: `redis://:hunter2@127.0.0.1:${redis.port}`,
    });
    assert.ok(
      lines.some((line) =>
        /^failed {3}Redis: no connection to .*WRONGPASS.*; correct REDIS_USERNAME and REDIS_PASSWORD, or those in REDIS_URL$/.test(
          line,
        ),
      ),
    );
    assert.doesNotMatch(lines.join('\n'), /hunter2/);
    assert.equal(hasFailed, true);
  });

  it('accepts a Redis user with exactly the rights of docs/operate/redis.md, and names each right that is missing', async (t) => {
    const redis = await redisServer(t);
    const client = new Redis(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
    t.after(() => client.disconnect());
    const settings = { ROLE: 'gateway', REDIS_URL: `redis://app:pw@127.0.0.1:${redis.port}` };
    await client.call('ACL', 'SETUSER', 'app', 'on', '>pw', ...RIGHTS);
    const accepted = await checked(settings);
    assert.equal(accepted.hasFailed, false, accepted.lines.join('\n'));
    await client.call('ACL', 'SETUSER', 'app', '-hset', '-pexpireat', '-subscribe', '-evalsha');
    const refused = await checked(settings);
    const failures = refused.lines.filter((line) => line.startsWith('failed'));
    assert.equal(failures.length, 1);
    assert.match(failures[0]!, /grant them with ACL SETUSER: \+evalsha \+pexpireat \+subscribe ~crier:\* &crier:\*$/);
    assert.equal(refused.hasFailed, true);
    await client.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', ...RIGHTS, 'resetchannels', '&other:*');
    const elsewhere = await checked(settings);
    assert.match(elsewhere.lines.join('\n'), /^failed .*publish \(NOPERM.*channel.*subscribe \(NOPERM/m);
    assert.deepEqual(await client.keys('*'), []);
  });

  it('names the channels of @redis that this Redis user may not subscribe to', async (t) => {
    const redis = await redisServer(t);
    const client = new Redis(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
    t.after(() => client.disconnect());
    const schema = `type Typing { who: ID }
      type Subscription {
        typing(room: ID!): Typing @redis(channel: "typing.{room}")
        lobby: Typing @redis(channel: "lobby")
      }`;
    const GRAPH = await graphFolder(t, { 'schema.graphql': schema });
    const settings = { ROLE: 'gateway', REDIS_URL: `redis://app:pw@127.0.0.1:${redis.port}`, GRAPH };
    const redisLines = async () =>
      (await checked(settings)).lines.filter((line) => line.includes('channels of @redis'));
    await client.call('ACL', 'SETUSER', 'app', 'on', '>pw', ...RIGHTS, '&lobby');
    assertLines(await redisLines(), [
      /^failed {3}Redis: .* refuses channels of @redis: typing\.\* \(NOPERM.*\); grant them with ACL SETUSER: &typing\.\*$/,
    ]);
    await client.call('ACL', 'SETUSER', 'app', '&typing.*');
    assertLines(await redisLines(), [/^ok {7}Redis: this user may subscribe to the channels of @redis on /]);
  });

  it('tries each command of docs/operate/redis.md', () => {
    const tried = new Set([...requiredCommands('').map(({ name }) => name), 'subscribe', 'unsubscribe']);
    const granted = RIGHTS.flatMap((right) => (right.startsWith('+') ? [right.slice(1)] : []));
    assert.deepEqual([...tried].toSorted(), granted.toSorted());
  });
});
