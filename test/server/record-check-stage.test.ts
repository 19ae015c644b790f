import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import kafkajs from 'kafkajs';
import { checked } from '../ops/check/checked.ts';
import type { LogLine, Pod } from '../end-to-end/pod.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { kafkaBrokers, randomName, redisServer } from '../support/services.ts';

const MISFIT = 'records of a topic do not fit schema.graphql';

function graphOf(t: TestContext, topic: string, more: Record<string, string> = {}): Promise<string> {
  const schema = `
    type Order { id: ID! state: State }
    enum State { OPEN CLOSED }
    type Subscription {
      order_updated(id: ID!): Order @kafka(topic: "${topic}", match: [{ arg: "id", path: "head.order_id" }], payload: "order")
    }`;
  return graphFolder(t, { 'schema.graphql': schema, ...more });
}

async function stage(t: TestContext) {
  const brokers = await kafkaBrokers({ after: (fn) => t.after(fn) });
  const topic = randomName('records');
  const kafka = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  await Promise.all([admin.connect(), producer.connect()]);
  t.after(async () => void (await Promise.all([admin.disconnect(), producer.disconnect()])));
  await admin.createTopics({ topics: [{ topic, numPartitions: 2 }], waitForLeaders: false });
  await waitFor('the leaders of the topic', async () => {
    const offsets = await admin.fetchTopicOffsets(topic).catch(() => []);
    return offsets.length === 2;
  });
  const send = (partition: number, ...values: (object | string | null)[]) =>
    producer.send({
      topic,
      messages: values.map((value) => {
        return { partition, value: value === null || typeof value === 'string' ? value : JSON.stringify(value) };
      }),
    });
  const settings = {
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: randomName('group'),
    KAFKA_DEAD_LETTER_TOPIC: randomName('dead'),
    REDIS_URL: (await redisServer(t)).url,
    GRAPH: await graphOf(t, topic),
  };
  return { topic, admin, send, settings };
}

async function misfitOf(pod: Pod, message = MISFIT): Promise<LogLine> {
  const find = () => pod.lines.find(({ msg }) => msg === message);
  await pod.until('a misfit', () => find() !== undefined);
  return find()!;
}

describe('RecordCheck', { concurrency: 2 }, () => {
  it('warns at the start of what the newest records do not have, naming record, path, keys and fix', async (t) => {
    const { topic, send, settings, admin } = await stage(t);
    await send(1, { head: { orderNo: 1 } }, { head: { orderNo: 2 }, order: { id: 1, state: 'OPN' } }, null);
    const pod = await startPod(t, settings);
    const { level, problems, ...line } = await misfitOf(pod);
    assert.deepEqual(
      [level, line['topic'], line['field'], line['partition'], line['offset'], line['compared']],
      ['warn', topic, 'Subscription.order_updated', 1, '1', 2],
    );
    const [path, state, untold, ...others] = problems as string[];
    assert.match(
      path!,
      /^match of "id": the record has no "order_id" at "head", where its keys are order_no; did you mean/,
    );
    assert.match(state!, /^Order\.state: the record has "OPN" .* did you mean "OPEN"\?/);
    assert.match(untold!, /^tombstone: the topic has records without a value, and subscribers are not told/);
    assert.deepEqual(others, []);
    // The consumer alone has a group, and its position is not moved.
    assert.deepEqual(
      (await admin.listGroups()).groups.map(({ groupId }) => groupId).filter((id) => id.includes('record-check')),
      [],
    );
    assert.equal(pod.lines.filter(({ msg }) => msg === MISFIT).length, 1);
  });

  it('waits for the first records of a topic that is empty, and says nothing of records that fit', async (t) => {
    const { send, settings } = await stage(t);
    const pod = await startPod(t, settings);
    assert.deepEqual(
      pod.lines.filter(({ msg }) => msg === MISFIT),
      [],
    );
    await send(0, { head: {}, order: { id: 'o-1', state: 'OPEN', list: [1] } });
    await send(1, 'no JSON', { head: {}, order: null }, { head: {}, order: null });
    const { problems, offset } = await misfitOf(pod);
    assert.equal(offset, '2');
    assert.match(String(problems), /no "order_id" at "head"/);
  });

  it('names records that cannot be decoded', async (t) => {
    const { send, settings } = await stage(t);
    await send(0, '\u0000\u0000\u0000\u0000\u0001avro');
    const { problems } = await misfitOf(await startPod(t, settings), 'records of a topic cannot be decoded');
    assert.deepEqual(problems, [
      "the record cannot be decoded (needs_registry: Confluent's header, with schema 1); set SCHEMA_REGISTRY_URL (these records name their schema by its id in a registry), and leave out format: JSON",
    ]);
  });

  it('prints the same with crier check, or that the records fit', async (t) => {
    const { topic, send, settings } = await stage(t);
    const records = async () => {
      const { hasFailed, lines } = await checked(settings);
      const found = lines.filter((line) => line.includes('records: '));
      assert.equal(
        hasFailed,
        found.some((line) => line.startsWith('failed')),
        lines.join('\n'),
      );
      return found;
    };
    assert.deepEqual(await records(), []);
    await send(1, 'no JSON');
    const [undecodable = ''] = await records();
    assert.ok(
      undecodable.startsWith(
        `failed   records: none of the newest records of the topic ${topic} can be decoded (1 tried), so its fields deliver nothing: not_json: plain text (partition 1, offset 0); have`,
      ),
      undecodable,
    );
    await send(0, { head: {}, order: { id: 'o-1' } });
    const [some, found] = await records();
    assert.ok(
      some?.startsWith(`warning  records: 1 of the newest records of the topic ${topic} cannot be decoded: not_json`),
    );
    assert.ok(
      found?.startsWith(
        `failed   records: the newest records of the topic ${topic} (partition 0, offset 0): Subscription.order_updated: match of "id": `,
      ),
      found,
    );
    await send(0, { head: { order_id: 1 }, order: { id: 'o-1', state: 'OPEN' } });
    const fitting = (await records()).slice(1);
    assert.deepEqual(fitting, [
      `ok       records: the newest records of the topic ${topic} fit the graph (2 compared)`,
    ]);
  });

  it('is no failure of crier check for records of a rare kind, which --records reads', async (t) => {
    const { topic, send, settings } = await stage(t);
    await send(0, { head: { order_id: 1 }, order: { id: 'o-1', state: 'OPEN' } });
    await send(0, ...Array.from({ length: 60 }, (_, tick) => ({ tick })));
    const { hasFailed, lines } = await checked(settings);
    assert.equal(hasFailed, false, lines.join('\n'));
    const hint = `; 50 of about 61 records were read, and the others may be what the field reads: crier check --records 61 reads more`;
    const found = lines.find((line) => line.includes('match of "id"')) ?? '';
    assert.ok(
      found.startsWith(`warning  records: the newest records of the topic ${topic}`) && found.endsWith(hint),
      found,
    );
    const all = await checked(settings, { records: 61 });
    assert.ok(
      all.lines.includes(`ok       records: the newest records of the topic ${topic} fit the graph (61 compared)`),
    );
    await send(1, ...Array.from({ length: 60 }, () => ({ head: { order_idd: 1 } })));
    const misspelt = await checked(settings);
    assert.equal(misspelt.hasFailed, true);
  });

  it('fails with crier check where a topic has no record of a field', async (t) => {
    const { send, settings } = await stage(t);
    await send(0, ...Array.from({ length: 40 }, (_, tick) => ({ tick })));
    assert.equal((await checked(settings)).hasFailed, true);
  });

  it('compares the first sample records of the embedded mode', async (t) => {
    const samples = `export function* records() { for (;;) yield { topic: 'orders', value: { order: { id: 1, state: 'NEW' } } }; }`;
    const folder = await graphOf(t, 'orders', { 'samples.ts': samples });
    const { topic, problems } = await misfitOf(
      await startPod(t, { GRAPH: folder }),
      'sample records do not fit schema.graphql',
    );
    assert.equal(topic, 'orders');
    assert.match(String(problems), /no "head" at the top.*has "NEW" at "order\.state"/s);
    assert.match(
      (await checked({ GRAPH: folder })).lines.join('\n'),
      /^failed {3}records: the first samples of the topic orders \(partition 0, offset 49\): .*no "head"/m,
    );
  });
});
