import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createTopics } from '../../stack/topics.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { isFull } from './form.ts';

const MAX_NEXT_MS = 1000;
const PATIENCE_MS = 60_000;
/** Limit of dead-letter records. A larger one is stored without its value, with a digest. */
const MAX_KEPT_BYTES = 1_000_000;
const SECRET = 'hunter2';

interface Kind {
  readonly name: string;
  readonly value: Buffer | string | null;
  /** The outcome: a reason in the dead-letter topic, an event, or an event with an error. */
  readonly becomes: string;
  /** What the dead letter says that the record is. */
  readonly found?: string;
}

const text = (bytes: number) => JSON.stringify({ lot: { id: 'large', name: SECRET.padEnd(bytes, 'x') } });

/** Faulty records that producers have been seen to send. */
const KINDS: readonly Kind[] = [
  { name: 'broken JSON', value: `{"lot": ${SECRET}`, becomes: 'not_json', found: 'JSON that is cut off or malformed' },
  {
    name: 'broken UTF-8',
    value: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
    becomes: 'invalid_utf8',
    found: 'an object whose text is not UTF-8',
  },
  { name: 'null', value: 'null', becomes: 'not_object', found: 'a JSON number, true, false or null' },
  { name: 'a scalar', value: `"${SECRET}"`, becomes: 'not_object', found: 'a JSON string' },
  { name: 'a little more than 1 MB', value: text(1_048_577), becomes: 'too_large' },
  { name: '10 MB', value: text(10_000_000), becomes: 'too_large' },
  {
    name: '10,000 levels',
    value: `${`{"${SECRET}":`.repeat(10_000)}1${'}'.repeat(10_000)}`,
    becomes: 'too_deep',
  },
  {
    name: 'a million keys',
    value: JSON.stringify(Object.fromEntries(Array.from({ length: 1_000_000 }, (_, i) => [`${SECRET}${i}`, 0]))),
    becomes: 'too_large',
  },
  {
    name: '__proto__',
    value: `{"__proto__":{"name":"${SECRET}"},"lot":{"id":"proto","__proto__":{"name":"${SECRET}"}}}`,
    becomes: 'event',
  },
  { name: 'a number beyond the range of a double', value: '{"lot":{"id":"number","amount":1e400}}', becomes: 'event' },
  {
    name: 'a value for which a resolver throws',
    value: JSON.stringify({ lot: { id: 'throws', name: SECRET } }),
    becomes: 'error',
  },
];

function graphOf(t: TestContext, topic: string): Promise<string> {
  return graphFolder(t, {
    'schema.graphql': `type Lot { id: ID! name: String amount: Float }
type Subscription { lot_changed: Lot @kafka(topic: "${topic}", payload: "lot") }
`,
    'resolvers.js': `export const Lot = {
  name: (lot) => {
    if (lot.id === 'throws') throw new Error('no name');
    return lot.name;
  },
};
`,
  });
}

describe('poison', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('of 12 kinds goes to the dead-letter topic unchanged, blocks no record of its partition, and is not in the log', async (t) => {
    const topic = randomName('poison');
    const largest = [{ name: 'max.message.bytes', value: '33554432' }];
    await createTopics(outside.brokers, [{ topic, numPartitions: 1, configEntries: largest }]);
    const deadTopic = `${topic}-dead`;
    const pod = await spawnPod(t, {
      GRAPH: await graphOf(t, topic),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: topic,
      KAFKA_DEAD_LETTER_TOPIC: deadTopic,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${topic}:`,
    }).started();
    const lots = watch(t, pod.url, 'subscription { lot_changed { id name amount } }');
    await untilOpen(lots, () => outside.send(topic, [{ value: '{"lot":{"id":"open"}}' }]));

    const offsets: number[] = [];
    for (const { name, value } of KINDS) {
      offsets.push(Number(await outside.endOffset(topic, 0)));
      await outside.send(topic, [{ key: `key of ${name}`, value }]);
      const sentAt = performance.now();
      await outside.send(topic, [{ value: JSON.stringify({ lot: { id: `after ${name}`, name: 'next' } }) }]);
      await waitFor(`the record after ${name}`, () => seen(lots).includes(`after ${name}`), PATIENCE_MS);
      const nextMs = performance.now() - sentAt;
      t.diagnostic(`${name}: the next record came after ${nextMs.toFixed(0)} ms`);
      if (isFull) assert.ok(nextMs <= MAX_NEXT_MS, `${name}: the next record came after ${nextMs} ms`);
    }
    assert.deepEqual(seen(lots), eventsOf(KINDS));
    assert.equal(lots.failures.length, KINDS.filter(({ becomes }) => becomes === 'error').length);
    await everyEntryIsComplete(outside, topic, offsets);
    assert.equal(await pod.metric('crier_dead_letter_failures_total'), 0);
    assert.doesNotMatch(pod.log, new RegExp(SECRET));
    assert.equal(({} as Record<string, unknown>)['name'], undefined);
  });
});

async function everyEntryIsComplete(outside: Outside, topic: string, offsets: readonly number[]): Promise<void> {
  const poison = KINDS.map((kind, i) => ({ ...kind, offset: `${offsets[i]}` })).filter(
    ({ becomes }) => becomes !== 'event' && becomes !== 'error',
  );
  const dead = await outside.readAll(`${topic}-dead`, poison.length);
  const byOffset = new Map(dead.map((one) => [String(one.headers!['crier-offset']), one]));
  for (const { name, value, becomes, found, offset } of poison) {
    const entry = byOffset.get(offset);
    assert.ok(entry, `${name}: no entry`);
    const bytes = value === null ? null : Buffer.from(value);
    const isOmitted = bytes !== null && bytes.length > MAX_KEPT_BYTES;
    const headers = Object.fromEntries(Object.entries(entry.headers ?? {}).map(([key, one]) => [key, String(one)]));
    const { 'crier-timestamp': timestamp, ...others } = headers;
    assert.match(timestamp ?? '', /^\d{13}$/, name);
    assert.deepEqual(others, {
      'crier-reason': becomes,
      ...(found !== undefined && { 'crier-found': found }),
      'crier-topic': topic,
      'crier-partition': '0',
      'crier-offset': offset,
      'crier-value-bytes': `${bytes?.length ?? 0}`,
      'crier-value-sha256': createHash('sha256')
        .update(bytes ?? '')
        .digest('hex'),
      ...(isOmitted && { 'crier-value-omitted': 'true' }),
    });
    assert.equal(entry.key?.toString(), `key of ${name}`);
    assert.deepEqual(entry.value, isOmitted ? null : bytes, name);
  }
}

/** Ids of the received lots, without those that opened the path. */
function seen({ events }: Watch): string[] {
  return events.map(({ lot_changed }) => (lot_changed as { id: string }).id).filter((id) => id !== 'open');
}

function eventsOf(kinds: readonly Kind[]): string[] {
  return kinds.flatMap(({ name, value, becomes }) => {
    const own = becomes === 'event' ? [(JSON.parse(String(value)) as { lot: { id: string } }).lot.id] : [];
    return [...own, `after ${name}`];
  });
}

/** Writes records until one arrives, because the protocol does not acknowledge a subscribe. */
async function untilOpen(subscription: Watch, write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; subscription.events.length === 0; attempt++) {
    await write();
    await subscription.event(1, 2000).catch((error: unknown) => {
      if (attempt === 30 || subscription.failures.length > 0) throw error;
    });
  }
}
