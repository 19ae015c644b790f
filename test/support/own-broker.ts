import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { installKafka } from '../../stack/kafka-broker.ts';
import { KafkaNode, createClusterId } from '../../stack/kafka-node.ts';
import { freePorts } from '../../stack/port.ts';
import { createTopics } from '../../stack/topics.ts';

/** A broker of one test, with a topic of one partition. It can be frozen, or killed and started again with its records. */
export async function startBroker(t: TestContext, topic: string): Promise<KafkaNode> {
  await installKafka();
  const [port, controllerPort] = (await freePorts(2)) as [number, number];
  const folder = await mkdtemp(join(tmpdir(), 'crier-broker-'));
  const clusterId = createClusterId();
  const controllerPorts = [controllerPort];
  const node = new KafkaNode({ id: 1, port, controllerPorts, clusterId, folder });
  t.after(async () => {
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await node.format();
  await node.start();
  await createTopics(node.address, [{ topic, numPartitions: 1 }]);
  return node;
}
