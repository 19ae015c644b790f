import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import kafkajs from 'kafkajs';
import { TOPIC } from '../../../loadtest/story/flood/copies.ts';
import { closeWriters, startWriters } from '../../../loadtest/story/flood/record-writer.ts';
import { createStoryTopics } from '../../../loadtest/story/flood/topic.ts';
import { startKafkaBroker } from '../../../stack/kafka-broker.ts';
import { randomName } from '../../support/services.ts';

const PARTITIONS = 2;
const WRITES = 60;
const LINES = 20;

describe('a writer of the flood', () => {
  // Of its own, because every story writes to the same topic.
  let broker: Awaited<ReturnType<typeof startKafkaBroker>>;
  before(async () => {
    broker = await startKafkaBroker();
    await createStoryTopics(broker.address, PARTITIONS);
  });
  after(() => broker.stop());

  for (const [name, hasKcat] of [
    ['kafkajs', false],
    ['kcat', true],
  ] as const) {
    it(`writes its records in order, also without waiting for the writes before: ${name}`, async () => {
      const plan = { kafkaBrokers: broker.address, writerCount: PARTITIONS, partitions: PARTITIONS, hasKcat };
      const writers = await startWriters(plan);
      // As large as those of a story: kafkajs encodes several sends at once.
      const padding = '.'.repeat(3000);
      const line = (number: number) => `${JSON.stringify({ name, number, padding })}\n`;
      for (let write = 0; write < WRITES; write++) {
        const lines = Array.from({ length: LINES }, (_, i) => line(write * LINES + i)).join('');
        for (const writer of writers) void writer.write(lines);
      }
      assert.deepEqual(await closeWriters(writers), []);
      const expected = Array.from({ length: WRITES * LINES }, (_, number) => number);
      for (const numbers of await numbersOf(broker.address, name)) assert.deepEqual(numbers, expected);
    });
  }
});

/** The numbers that this kind of writer has written, by partition. */
async function numbersOf(brokers: string, writer: string): Promise<number[][]> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: randomName('reader') });
  await consumer.connect();
  await consumer.subscribe({ topics: [TOPIC], fromBeginning: true });
  const partitions = Array.from({ length: PARTITIONS }, (): number[] => []);
  let left = PARTITIONS * WRITES * LINES;
  await new Promise<void>((resolve) => {
    void consumer.run({
      eachMessage: ({ partition, message }) => {
        const { name, number } = JSON.parse(message.value!.toString()) as { name: string; number: number };
        if (name === writer) partitions[partition]!.push(number);
        if (name === writer && --left === 0) resolve();
        return Promise.resolve();
      },
    });
  });
  await consumer.disconnect();
  return partitions;
}
