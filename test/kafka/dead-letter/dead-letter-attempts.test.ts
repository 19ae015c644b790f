import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProducerRecord } from 'kafkajs';
import type { PoisonRecord } from '../../../src/kafka/batch.ts';
import type { KafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { DeadLetter } from '../../../src/kafka/dead-letter/dead-letter.ts';
import type { DeadLetterOptions } from '../../../src/kafka/dead-letter/dead-letter.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readableLog } from '../consumer-harness.ts';

const HALF = 400_000;

/** Per write: the offsets of its records, negative for a record whose value is omitted. */
function createStage(policy: DeadLetterOptions['policy'], answer: (write: string[]) => Error | undefined) {
  const writes: string[][] = [];
  const dropped: number[] = [];
  const { log, lines } = readableLog();
  const producer = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    send: ({ messages }: ProducerRecord) => {
      const write = messages.map(
        ({ headers, value }) => `${value === null ? '-' : ''}${String(headers!['crier-offset'])}`,
      );
      writes.push(write);
      const error = answer(write);
      return error === undefined ? Promise.resolve([]) : Promise.reject(error);
    },
  };
  const created: string[] = [];
  const cluster = {
    existingTopics: () => Promise.resolve([] as string[]),
    createTopic: (topic: string) => Promise.resolve(created.push(topic) > 0),
  };
  const deadLetter = new DeadLetter({
    topic: 'dead',
    policy,
    cluster,
    createClient: () => ({ kafka: { producer: () => producer }, destroy: () => undefined }) as unknown as KafkaClient,
    log,
    onDropped: (records) => dropped.push(records),
  });
  return { deadLetter, writes, dropped, lines, created, cluster };
}

const poison = (count: number): PoisonRecord[] =>
  Array.from({ length: count }, (_, offset) => ({
    record: { topic: 'bids', partition: 0, offset, timestamp: 1, key: null, value: Buffer.alloc(HALF) },
    reason: 'not_json',
  }));

const refusal = (type: string) => Object.assign(new Error(type), { type });

describe('DeadLetter', () => {
  it('retries the records that were not written, and no others', async () => {
    let refusals = 0;
    const { deadLetter, writes, dropped } = createStage('WAIT', ([first]) =>
      first === '2' && refusals++ < 2 ? new Error('away') : undefined,
    );
    await deadLetter.write(poison(4));
    assert.deepEqual(writes, [
      ['0', '1'],
      ['2', '3'],
      ['2', '3'],
      ['2', '3'],
    ]);
    assert.deepEqual(dropped, []);
  });

  it('drops and logs only the records that were not written', async () => {
    const { deadLetter, writes, dropped, lines } = createStage('DROP', ([first]) =>
      first === '2' ? new Error('away') : undefined,
    );
    await deadLetter.write(poison(5));
    assert.deepEqual(writes, [
      ['0', '1'],
      ['2', '3'],
    ]);
    assert.deepEqual(dropped, [3]);
    const line = JSON.parse(lines.find((one) => one.includes('poison records are dropped'))!) as {
      positions: { offset: string }[];
      records: number;
    };
    assert.deepEqual(
      line.positions.map(({ offset }) => offset),
      ['2', '3', '4'],
    );
    assert.equal(line.records, 3);
  });

  for (const type of ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']) {
    it(`writes each record alone after ${type}, and one that is too large alone without its body`, async () => {
      const tooLarge = Object.assign(new Error('retries', { cause: refusal(type) }), { type: 'OTHER' });
      const { deadLetter, writes } = createStage('WAIT', (write) =>
        write.length > 1 || write[0] === '1' ? tooLarge : undefined,
      );
      await deadLetter.write(poison(2));
      assert.deepEqual(writes, [['0', '1'], ['0'], ['1'], ['-1']]);
    });
  }

  it('creates an unknown topic, and retries until that succeeds', async () => {
    let isKnown = true;
    let isRefused = true;
    const { deadLetter, created, cluster } = createStage('WAIT', () =>
      isKnown ? undefined : refusal('UNKNOWN_TOPIC_OR_PARTITION'),
    );
    cluster.createTopic = (topic) => {
      created.push(topic);
      if (isRefused) return Promise.reject(new Error('refused'));
      isKnown = true;
      return Promise.resolve(true);
    };
    await deadLetter.createTopic();
    assert.equal(created.length, 1);
    isKnown = false;
    const writing = deadLetter.write(poison(1));
    await waitFor('further attempts', () => created.length === 4);
    isRefused = false;
    await writing;
    await deadLetter.write(poison(1));
    assert.equal(created.length, 5);
  });

  it('makes one attempt at a time, in turn for each write', async () => {
    let isAway = true;
    const { deadLetter, writes } = createStage('WAIT', () => (isAway ? new Error('away') : undefined));
    const [first, second] = poison(2);
    const all = Promise.all([deadLetter.write([first!]), deadLetter.write([second!])]);
    await waitFor('attempts', () => writes.length >= 4);
    assert.deepEqual(new Set(writes.map(String)), new Set(['0', '1']));
    isAway = false;
    await all;
  });

  it('ends a write whose signal is aborted', async () => {
    const { deadLetter, writes } = createStage('WAIT', () => new Error('away'));
    const end = new AbortController();
    const writing = deadLetter.write(poison(1), end.signal);
    await waitFor('an attempt', () => writes.length > 0);
    end.abort();
    await assert.rejects(writing, { name: 'AbortError' });
  });
});
