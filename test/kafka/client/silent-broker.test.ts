import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createKafkaClient, watchSilence } from '../../../src/kafka/client/kafka-client.ts';
import { RecordProducer } from '../../../src/kafka/record-producer.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createConsumer, readableLog, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

/** Accepts connections and never answers, like a hung machine. */
async function silentBroker(t: TestContext) {
  const sockets = new Set<Socket>();
  const broker = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()));
  await new Promise<void>((resolve) => void broker.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    broker.close();
  });
  return { address: `127.0.0.1:${(broker.address() as AddressInfo).port}`, sockets };
}

describe('watchSilence', () => {
  it('gives a connection up on which a request has no answer, and none on which nothing was sent', async (t) => {
    const { address } = await silentBroker(t);
    const given: string[] = [];
    const open = (name: string) => {
      const socket = connect(Number(address.split(':')[1]), '127.0.0.1');
      const timer = watchSilence(socket, () => given.push(name), 100);
      t.after(() => {
        clearInterval(timer);
        socket.destroy();
      });
      return socket;
    };
    open('quiet');
    open('asking').write('x');
    await waitFor('the end of the patience', () => given.length > 0);
    assert.deepEqual(new Set(given), new Set(['asking']));
  });
});

describe('a broker that accepts connections and never answers, named first', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('does not keep a worker from its group, and is named', async (t) => {
    const silent = await silentBroker(t);
    const topic = await outside.createTopic();
    const { consumer, bus, lines } = createConsumer(t, `${silent.address},${outside.brokers}`, [topic]);
    await consumer.start();
    assert.equal(consumer.isConnected, true);
    await outside.sendSequences(topic, 4, 1);
    await waitFor('the records', () => bus.messages.length === 4);
    assert.ok(lines.some((line) => line.includes(silent.address) && line.includes('does not answer')));
  });

  it('costs the first record of a producer some time, and no other', async (t) => {
    const silent = await silentBroker(t);
    const topic = await outside.createTopic();
    const config = testConfig({
      KAFKA_BROKERS: `${silent.address},${outside.brokers}`,
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    const { log } = readableLog();
    const producers = [1, 2].map(() => new RecordProducer(() => createKafkaClient(config, log)));
    t.after(() => Promise.all(producers.map((producer) => producer.close())));
    const record = { topic, key: null, value: Buffer.from('{}'), headers: {} };
    for (const producer of producers) for (let i = 0; i < 2; i++) await producer.send(record);
    assert.equal(silent.sockets.size, 1);
  });
});
