import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import kafkajs from 'kafkajs';
import { installKafka } from '../../stack/kafka-broker.ts';
import { KafkaNode, createClusterId } from '../../stack/kafka-node.ts';
import { freePorts } from '../../stack/port.ts';
import { createTopics } from '../../stack/topics.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { PRODUCE_TIMEOUT_MS, ProduceError } from '../../src/kafka/produce-outcome.ts';
import type { ProduceFailure } from '../../src/kafka/produce-outcome.ts';
import { RecordProducer } from '../../src/kafka/record-producer.ts';
import { createLog } from '../../src/base/log.ts';
import { randomName } from '../support/services.ts';
import { testConfig } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
/** For a machine that runs other tests. */
const MARGIN_MS = 3000;

describe('RecordProducer', () => {
  let node: KafkaNode;
  let folder: string;
  before(async () => {
    await installKafka();
    const [port, controllerPort] = (await freePorts(2)) as [number, number];
    folder = await mkdtemp(join(tmpdir(), 'crier-producer-'));
    const clusterId = createClusterId();
    node = new KafkaNode({
      id: 1,
      port,
      controllerPorts: [controllerPort],
      clusterId,
      folder,
      properties: [
        'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'allow.everyone.if.no.acl.found=true',
      ],
    });
    await node.format();
    await node.start();
  });
  after(async () => {
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const createProducer = (t: TestContext, brokers = node.address) => {
    const config = testConfig({ KAFKA_BROKERS: brokers, REDIS_URL: 'redis://127.0.0.1:1' });
    const producer = new RecordProducer(() => createKafkaClient(config, createLog('silent')));
    t.after(() => producer.close());
    return producer;
  };
  const topicWith = async (configEntries: { name: string; value: string }[] = []) => {
    const topic = randomName('published');
    await createTopics(node.address, [{ topic, numPartitions: 2, configEntries }]);
    return topic;
  };
  const record = (topic: string, key: string | null, value = '{}') => ({
    topic,
    key,
    value: Buffer.from(value),
    headers: { 'claim-sub': 'ann' },
  });
  /** Records of a topic: `format` of kcat, one a line. */
  const linesOf = async (topic: string, format: string) => {
    const { stdout } = await run('kcat', ['-C', '-b', node.address, '-t', topic, '-e', '-q', '-f', `${format}\n`], {
      maxBuffer: 100_000_000,
    });
    return stdout.split('\n').slice(0, -1);
  };
  const failureOf = async (sent: Promise<unknown>): Promise<ProduceFailure> => {
    const startedAt = performance.now();
    const error = await sent.then(
      () => assert.fail('was written'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ProduceError, String(error));
    assert.ok(performance.now() - startedAt < PRODUCE_TIMEOUT_MS + MARGIN_MS);
    return error.failure;
  };

  it('writes records with key, headers and null, and says where they are', async (t) => {
    const topic = await topicWith();
    const producer = createProducer(t);
    const first = await producer.send(record(topic, 'a', '{"x":1}'));
    const second = await producer.send({ ...record(topic, 'a'), value: null });
    assert.equal(first.partition, second.partition);
    assert.deepEqual([first.offset, second.offset], [0, 1]);
    assert.ok(Math.abs(first.timestamp - Date.now()) < 60_000);
    assert.deepEqual(await linesOf(topic, '%p %o %k %S %s %h'), [
      `${first.partition} 0 a 7 {"x":1} claim-sub=ann`,
      `${first.partition} 1 a -1  claim-sub=ann`,
    ]);
  });

  it('reports a record that the topic refuses, without harm to others that are being sent', async (t) => {
    const topic = await topicWith([{ name: 'max.message.bytes', value: '1000' }]);
    const producer = createProducer(t);
    const large = `"${'x'.repeat(2000)}"`;
    const outcomes = await Promise.all([
      failureOf(producer.send(record(topic, 'a', large))),
      ...Array.from({ length: 20 }, async (_, i) => (await producer.send(record(topic, `${i}`))).partition >= 0),
      failureOf(producer.send(record(topic, 'b', large))),
    ]);
    assert.deepEqual(new Set(outcomes), new Set(['refused', true]));
    assert.equal((await linesOf(topic, '%k')).length, 20);
  });

  it('refuses a topic that does not exist, and creates none', async (t) => {
    const producer = createProducer(t);
    assert.equal(await failureOf(producer.send(record(randomName('missing'), 'a'))), 'refused');
    assert.ok((await producer.send(record(await topicWith(), 'a'))).partition >= 0, 'another topic');
  });

  /** Writes records to a topic, one after the other, from now on. */
  const keepWriting = (t: TestContext, producer: RecordProducer, topic: string) => {
    t.after(() => (isOver = true));
    const failures: unknown[] = [];
    let written = 0;
    let isOver = false;
    const writing = (async () => {
      for (let i = 0; !isOver && failures.length < 100; i++) {
        await producer.send(record(topic, `${i}`)).then(
          () => written++,
          (error: unknown) => failures.push(error),
        );
      }
    })();
    return {
      written: () => written,
      /** Resolves with the errors. */
      end: async () => {
        isOver = true;
        await writing;
        return failures;
      },
    };
  };
  const withAdmin = async (task: (admin: kafkajs.Admin) => Promise<unknown>) => {
    const admin = new kafkajs.Kafka({ brokers: [node.address], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    await task(admin).finally(() => admin.disconnect());
  };

  it('refuses a deleted topic, without harm to another, and writes to it when it exists again', async (t) => {
    const [topic, deleted] = [await topicWith(), await topicWith()];
    const producer = createProducer(t);
    await producer.send(record(deleted, 'a'));
    const others = keepWriting(t, producer, topic);
    await waitFor('a record of the other topic', () => others.written() > 0);
    await withAdmin((admin) => admin.deleteTopics({ topics: [deleted] }));
    for (let round = 0; round < 2; round++) {
      const outcomes = await Promise.all(['a', 'b', 'c'].map((key) => failureOf(producer.send(record(deleted, key)))));
      assert.deepEqual(new Set(outcomes), new Set(['refused']));
    }
    await createTopics(node.address, [{ topic: deleted, numPartitions: 2 }]);
    const again = await waitFor('a record of the new topic', () =>
      producer.send(record(deleted, 'a')).catch(() => undefined),
    );
    assert.equal(again.offset, 0);
    assert.deepEqual(await others.end(), []);
  });

  it('refuses a topic that it may no longer write, without harm to another, and writes to it when it may again', async (t) => {
    const [topic, forbidden] = [await topicWith(), await topicWith()];
    const producer = createProducer(t);
    await producer.send(record(forbidden, 'a'));
    const others = keepWriting(t, producer, topic);
    await waitFor('a record of the other topic', () => others.written() > 0);
    const denial = {
      resourceType: kafkajs.AclResourceTypes.TOPIC,
      resourceName: forbidden,
      resourcePatternType: kafkajs.ResourcePatternTypes.LITERAL,
      principal: 'User:ANONYMOUS',
      host: '*',
      operation: kafkajs.AclOperationTypes.ALL,
      permissionType: kafkajs.AclPermissionTypes.DENY,
    };
    await withAdmin((admin) => admin.createAcls({ acl: [denial] }));
    for (let i = 0; i < 3; i++) assert.equal(await failureOf(producer.send(record(forbidden, `${i}`))), 'refused');
    await withAdmin((admin) => admin.deleteAcls({ filters: [denial] }));
    await waitFor('a record of the topic', () => producer.send(record(forbidden, 'a')).catch(() => undefined));
    assert.deepEqual(await others.end(), []);
  });

  it('says within 5 s that nothing was written while no broker is there, and writes once one is', async (t) => {
    const [port] = (await freePorts(1)) as [number];
    const producer = createProducer(t, `127.0.0.1:${port}`);
    assert.equal(await failureOf(producer.send(record('t', 'a'))), 'unwritten');
  });

  it('loses no confirmed record and confirms no lost one, with the broker killed and frozen in the middle', async (t) => {
    const topic = await topicWith();
    const producer = createProducer(t);
    const written = new Set<string>();
    const failed = new Map<string, ProduceFailure>();
    let sent = 0;
    let isOver = false;
    const writer = async () => {
      while (!isOver) {
        const key = `k${sent++}`;
        try {
          await producer.send(record(topic, key));
          written.add(key);
        } catch (error) {
          failed.set(key, (error as ProduceError).failure);
        }
      }
    };
    const writers = Array.from({ length: 8 }, writer);
    const until = async (isTrue: () => boolean) => {
      while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await until(() => written.size > 200);
    await node.kill();
    await until(() => failed.size > 20);
    await node.start();
    const before = written.size;
    await until(() => written.size > before + 200);
    node.process.kill('SIGSTOP');
    const failures = failed.size;
    await until(() => failed.size >= failures + 8);
    node.process.kill('SIGCONT');
    const resumed = written.size;
    await until(() => written.size > resumed + 200);
    isOver = true;
    await Promise.all(writers);
    await producer.close();

    const stored = await linesOf(topic, '%k');
    const keys = new Set(stored);
    assert.equal(keys.size, stored.length, 'a record was written twice');
    for (const key of written) assert.ok(keys.has(key), `${key} was confirmed and is lost`);
    for (const [key, failure] of failed) {
      if (failure !== 'unconfirmed') assert.ok(!keys.has(key), `${key} was ${failure} and is written`);
    }
    assert.ok([...failed.values()].includes('unwritten') && [...failed.values()].includes('unconfirmed'));
    t.diagnostic(`${written.size} confirmed, ${failed.size} failed, ${stored.length} stored`);
  });
});
