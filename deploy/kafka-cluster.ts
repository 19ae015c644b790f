import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installKafka } from './kafka-broker.ts';
import { KafkaNode, createClusterId } from './kafka-node.ts';
import { freePorts } from './port.ts';

/** Small, and up with little work: what is asked of three brokers on one machine is that they can be ended, not that they are fast. */
const JAVA_FLAGS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

export interface KafkaCluster {
  readonly nodes: readonly KafkaNode[];
  /** `host:port` of each, comma-separated, as KAFKA_BROKERS wants it. */
  readonly addresses: string;
  /** Ends all of it at once and removes its data. Idempotent. */
  readonly stop: () => Promise<void>;
}

/**
 * KRaft brokers on loopback, each a controller, too. From three on, every topic has three replicas, two of which must
 * have what is acknowledged: any one of them may be ended. `ports`: of the brokers, in this order.
 */
export async function startKafkaCluster(ports: readonly number[]): Promise<KafkaCluster> {
  await installKafka();
  const folder = await mkdtemp(join(tmpdir(), 'crier-kafka-'));
  const controllerPorts = await freePorts(ports.length);
  const clusterId = createClusterId();
  const nodes = ports.map(
    (port, i) => new KafkaNode({ id: i + 1, port, controllerPorts, clusterId, javaFlags: JAVA_FLAGS, folder }),
  );
  const stop = async () => {
    // A broker says goodbye to the others, which are about to end as well: it would wait for them.
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(nodes.map((node) => node.format()));
    // All have come to an end, good or bad, before any is stopped.
    const starts = await Promise.allSettled(nodes.map((node) => node.start()));
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, addresses: nodes.map(({ address }) => address).join(','), stop };
}
