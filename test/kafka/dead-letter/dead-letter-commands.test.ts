import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import kafkajs from 'kafkajs';
import { freePorts } from '../../../stack/port.ts';
import { readSettings } from '../../../src/config/config.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { Cluster } from '../../../src/kafka/client/cluster.ts';
import { runDeadLetterCommand } from '../../../src/kafka/dead-letter/dead-letter-commands.ts';
import { createLog } from '../../../src/base/log.ts';
import { refusalOf } from '../../tools/refusal.ts';
import { randomName } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createConsumer, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

const run = promisify(execFile);
const Broker = createRequire(import.meta.url)('kafkajs/src/broker') as {
  readonly prototype: { produce: (this: object, options: Produced) => Promise<unknown> };
};

interface Produced {
  readonly topicData: readonly { readonly topic: string }[];
}

/** So that a topic of poison records does not stop. */
const NO_LIMIT = { UNDECODABLE_LIMIT: '0' };

interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

function runCommand(settings: Readonly<Record<string, string>>, ...parameters: string[]): Promise<Answer> {
  const env = { PATH: process.env['PATH'], ...settings };
  return run(process.execPath, ['dist/src/main.js', 'dead-letters', ...parameters], { env }).then(
    ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
    (error: Answer) => error,
  );
}

describe('crier dead-letters', { concurrency: 4 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** A topic of two partitions, and a group whose worker has dead-lettered records of it. */
  async function createStage(t: TestContext, count: number, large = 0, padding = 0) {
    const topic = await outside.createTopic(undefined, 2);
    const { consumer, counts, groupId } = createConsumer(t, outside.brokers, [topic], { environment: NO_LIMIT });
    // With one partition the order is known; with more it is that of each key.
    const deadTopic = await outside.createTopic(`${groupId}-dead`, 1);
    await consumer.start();
    // Not much older than now: Kafka deletes by timestamp.
    const sentAt = Date.now() - 60_000;
    const records = Array.from({ length: count }, (_, i) => ({
      partition: 1,
      key: `key ${i}`,
      value: i % 2 === 0 ? `poison ${i}${'x'.repeat(padding)}` : '7',
      headers: { trace: `${i}`, 'crier-topic': 'mine' },
      timestamp: `${sentAt + i}`,
    }));
    if (padding === 0) await outside.send(topic, records);
    else for (const record of records) await outside.send(topic, [record]);
    if (large > 0) {
      await waitFor('the first poison records', () => counts.poison.length === count);
      await outside.limitMessages(deadTopic, 2000);
      await outside.send(topic, [{ value: 'x'.repeat(3000) }]);
    }
    const all = count + large;
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === all);
    await consumer.close();
    const settings = { KAFKA_BROKERS: outside.brokers, KAFKA_GROUP_ID: groupId, KAFKA_DEAD_LETTER_TOPIC: deadTopic };
    const command = (...parameters: string[]) => runCommand(settings, ...parameters);
    return { topic, command, sentAt, settings };
  }

  it('lists dead letters with position, reason, size and key, and changes nothing', async (t) => {
    const { topic, command } = await createStage(t, 4);
    const first = await command('list');
    assert.equal(first.code, 0, first.stderr);
    const lines = first.stdout.trimEnd().split('\n');
    assert.equal(lines.length, 5);
    assert.match(lines[0]!, new RegExp(`^${topic}/1/0 not_json \\(plain text\\) \\d+ s ago, 8 bytes, key "key 0"$`));
    assert.equal(lines[4], 'listed: 4');
    assert.equal((await command('list', '--reason', 'not_object')).stdout.split('\n').length, 4);
    assert.match((await command('list', '--topic', 'another')).stdout, /^listed: 0/);
    assert.match((await command('replay', '--dry-run')).stdout, /would have been replayed: 4\n$/);
    assert.match((await command('list')).stdout, /listed: 4\n$/);
  });

  it('prints JSON: a line for each dead letter, and the result', async (t) => {
    const { topic, command, sentAt } = await createStage(t, 2);
    const { stdout, stderr } = await command('list', '--json');
    const [first, second, ...others] = stdout.split('\n');
    assert.deepEqual(others, ['']);
    // A slow command says how far it is.
    assert.match(stderr, /^(?:\d so far\n)*listed: 2\n$/);
    const place = { topic, partition: 1, offset: '0', reason: 'not_json', found: 'plain text' };
    const { time, ...facts } = JSON.parse(first!) as { time: string };
    assert.deepEqual(facts, { ...place, valueBytes: 8, isPartial: false, key: 'key 0' });
    assert.ok(Date.parse(time) > sentAt, 'the time at which the copy was written');
    assert.equal((JSON.parse(second!) as { reason: string }).reason, 'not_object');
    assert.equal((await command('drop', '--json', '--dry-run')).stdout, stdout);
    assert.equal((await command('replay', '--json')).stdout, '{"action":"replay","done":2,"refused":0}\n');
  });

  it('replays each original record once, to its original partition', async (t) => {
    const { topic, command, sentAt } = await createStage(t, 6);
    assert.equal((await command('replay', '--reason', 'not_object', '--limit', '2')).stdout, 'replayed: 2\n');
    assert.match((await command('list')).stdout, /listed: 4\n$/);
    assert.equal((await command('replay')).stdout, 'replayed: 4\n');
    assert.equal((await command('replay')).stdout, 'replayed: 0\n');
    const replayed = (await outside.readAll(topic, 12)).slice(6);
    assert.deepEqual(
      replayed.map(({ key }) => String(key)),
      ['key 1', 'key 3', 'key 0', 'key 2', 'key 4', 'key 5'],
    );
    const { value, headers, timestamp } = replayed[2]!;
    assert.equal(String(value), 'poison 0');
    assert.equal(timestamp, `${sentAt}`);
    assert.deepEqual(
      Object.entries(headers!).map(([name, one]) => [name, String(one)]),
      [
        ['trace', '0'],
        ['crier-topic', 'mine'],
      ],
    );
    assert.equal(await outside.endOffset(topic, 1), '12');
  });

  it('replays each record once while two commands run', async (t) => {
    const { topic, command } = await createStage(t, 1500);
    const first = command('replay');
    let isDone = false;
    void first.then(() => (isDone = true));
    const hasBegun = async () => isDone || (await outside.endOffset(topic, 1)) !== '1500';
    await waitFor('the first replayed records', hasBegun, Infinity);
    // The one that is not given the partition any more fails.
    for (const { code, stderr } of await Promise.all([first, command('replay')]))
      assert.ok(code === 0 || /another command/.test(stderr), stderr);
    assert.equal((await command('replay')).code, 0);
    assert.equal(await outside.endOffset(topic, 1), '3000');
  });

  it('replays records that together exceed one batch', async (t) => {
    const { topic, command } = await createStage(t, 6, 0, 800_000);
    const { code, stdout, stderr } = await command('replay');
    assert.deepEqual([code, stdout], [0, 'replayed: 6\n'], stderr);
    const replayed = (await outside.readAll(topic, 12)).slice(6);
    assert.deepEqual(
      replayed.map(({ key }) => String(key)),
      Array.from({ length: 6 }, (_, i) => `key ${i}`),
    );
  });

  it('replays records that together exceed the limit of their topic', async (t) => {
    const { topic, command } = await createStage(t, 30, 0, 2000);
    await outside.limitMessages(topic, 5000);
    const { code, stdout, stderr } = await command('replay');
    assert.deepEqual([code, stdout], [0, 'replayed: 30\n'], stderr);
    const keys = (await outside.readAll(topic, 60)).slice(30).map(({ key }) => String(key));
    assert.deepEqual(keys.toSorted(), Array.from({ length: 30 }, (_, i) => `key ${i}`).toSorted());
  });

  it('keeps a record that is too large for its topic, replays the others once, and exits with 1', async (t) => {
    const { topic, command } = await createStage(t, 6, 0, 2000);
    await outside.limitMessages(topic, 1000);
    for (const replayed of [3, 0]) {
      const { code, stdout, stderr } = await command('replay');
      assert.deepEqual([code, stdout], [1, `replayed: ${replayed}, 3 cannot be replayed and stay\n`], stderr);
      assert.equal(stderr.match(/too large for its topic: .* not_json/g)?.length, 3);
    }
    assert.equal(await outside.endOffset(topic, 1), '9');
  });

  it('writes each record once if an acknowledgement is lost', async (t) => {
    const { topic, settings } = await createStage(t, 3);
    let losses = 1;
    const { produce } = Broker.prototype;
    t.mock.method(Broker.prototype, 'produce', async function (this: object, options: Produced): Promise<unknown> {
      const answer = await produce.call(this, options);
      // Other tests produce meanwhile.
      if (options.topicData.some((of) => of.topic === topic) && losses-- > 0)
        throw new kafkajs.KafkaJSConnectionError('the acknowledgement was lost');
      return answer;
    });
    const config = readSettings(settings);
    const log = createLog('silent');
    const cluster = new Cluster(() => createKafkaClient(config, log));
    const client = createKafkaClient(config, log);
    t.after(() => (cluster.close(), client.destroy()));
    const ports = {
      topic: config.KAFKA_DEAD_LETTER_TOPIC,
      groupId: `${config.KAFKA_GROUP_ID}-dead-letters`,
      client,
      cluster,
      onEntry: () => undefined,
      onTooLarge: () => undefined,
      onProgress: () => undefined,
    };
    const all = { action: 'replay', isDryRun: false, topic: undefined, reason: undefined, limit: Infinity } as const;
    assert.deepEqual(await runDeadLetterCommand(all, ports), { done: 3, refused: 0 });
    assert.equal(losses, -1);
    assert.equal(await outside.endOffset(topic, 1), '6');
  });

  it('drops the selected dead letters, and lists them with --dry-run', async (t) => {
    const { topic, command } = await createStage(t, 4);
    assert.match((await command('drop', '--dry-run')).stdout, /would have been dropped: 4\n$/);
    assert.equal((await command('drop', '--reason', 'not_json')).stdout, 'dropped: 2\n');
    assert.equal((await command('replay')).stdout, 'replayed: 2\n');
    assert.equal((await command('list')).stdout, 'listed: 0\n');
    assert.equal((await outside.readAll(topic, 6)).length, 6);
  });

  it('keeps a dead letter with an omitted part, and exits with 1', async (t) => {
    const { command } = await createStage(t, 2, 1);
    const { code, stdout, stderr } = await command('replay');
    assert.equal(code, 1);
    assert.equal(stdout, 'replayed: 2, 1 cannot be replayed and stay\n');
    assert.match(stderr, /a part was omitted: .* not_json .*3000 bytes \(omitted\)/);
    assert.match((await command('list')).stdout, /listed: 1\n$/);
  });

  it('explains an invalid command', async () => {
    for (const [parameters, message] of [
      [[], /^expected one of list, replay, drop$/],
      [['purge'], /^expected one of list, replay, drop, got "purge"$/],
      [['lst'], /^expected one of list, replay, drop, got "lst"; did you mean "list"\?$/],
      [['list', '--limit', '0'], /--limit: expected a whole number/],
      [['list', '--what'], /see crier dead-letters --help/],
    ] as const) {
      const refusal = await refusalOf(['dead-letters', ...parameters]);
      assert.equal(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
    }
    assert.match((await runCommand({}, '--help')).stdout, /^Lists, replays or drops/);
  });

  it('reports unreachable brokers, or a missing dead-letter topic, in one line', async () => {
    const [port] = await freePorts(1);
    for (const [settings, message] of [
      [{ KAFKA_BROKERS: `127.0.0.1:${port}` }, /ECONNREFUSED/],
      [
        { KAFKA_BROKERS: outside.brokers, KAFKA_DEAD_LETTER_TOPIC: randomName('absent') },
        /there is no topic absent-.*KAFKA_DEAD_LETTER_TOPIC/,
      ],
    ] as const) {
      const { code, stderr } = await runCommand(settings, 'list');
      assert.equal(code, 1);
      const lines = stderr.split('\n').filter((line) => line.startsWith('crier: ') || /^\s+at /.test(line));
      assert.equal(lines.length, 1, stderr);
      assert.match(lines[0]!, message);
    }
  });
});
