/**
 * Run by kafka-availability.test.ts in a process of its own: closes a consumer in the named state, and must then end by itself.
 * Arguments: state, broker, topic.
 */
import assert from 'node:assert/strict';
import { waitFor } from '../support/wait-for.ts';
import { createConsumer, Outside } from '../kafka/consumer-harness.ts';

const [state, broker, topic] = process.argv.slice(2) as [string, string, string];
process.on('unhandledRejection', (error) => {
  throw error;
});

const { consumer, bus, groupId } = createConsumer({ after: () => undefined }, broker, [topic]);
const outside = new Outside(broker);

async function closeInFlight(): Promise<void> {
  await outside.connect();
  await consumer.start();
  await outside.sendSequences(topic, 4, 2000);
  await waitFor('a first chunk', () => bus.messages.length > 0);
  await consumer.close();
  const published = bus.messages.length;
  assert.equal(await outside.committed(groupId, topic), published, 'what was published is committed');
  await outside.close();
}

async function closeHanging(): Promise<void> {
  await outside.connect();
  await consumer.start();
  bus.isHanging = true;
  await outside.sendSequences(topic, 4, 1);
  await waitFor('a publish under way', () => bus.attempts > 0);
  await consumer.close();
  await outside.close();
}

const started = performance.now();
switch (state) {
  case 'before start':
    await consumer.close();
    await consumer.start();
    break;
  case 'during start':
    void consumer.start();
    await consumer.close();
    break;
  case 'twice':
    await consumer.start();
    await Promise.all([consumer.close(), consumer.close()]);
    break;
  case 'in flight':
    await closeInFlight();
    break;
  case 'hanging':
    await closeHanging();
    break;
  default:
    await consumer.start();
    await consumer.close();
}
assert.equal(consumer.isConnected, false);
assert.ok(performance.now() - started < 45_000, 'bounded');
