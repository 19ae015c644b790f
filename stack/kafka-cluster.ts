import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installKafka } from './kafka-broker.ts';
import { KafkaNode, createClusterId } from './kafka-node.ts';
import { freePorts } from './port.ts';

export interface KafkaCluster {
  readonly nodes: readonly KafkaNode[];
  /** `host:port` of each broker, comma-separated: a value for KAFKA_BROKERS. */
  readonly addresses: string;
  /** Ends all brokers at once and removes their data. Idempotent. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts KRaft brokers on loopback, each also a controller. With three or more, every topic has three replicas, and two of them must have
 * a record before it is acknowledged, so any one broker may end. `ports`: of the brokers, in this order.
 */
export async function startKafkaCluster(ports: readonly number[]): Promise<KafkaCluster> {
  await installKafka();
  const folder = await mkdtemp(join(tmpdir(), 'crier-kafka-'));
  const controllerPorts = await freePorts(ports.length);
  const clusterId = createClusterId();
  const nodes = ports.map((port, i) => new KafkaNode({ id: i + 1, port, controllerPorts, clusterId, folder }));
  const stop = async () => {
    // A controlled shutdown would wait for the other brokers, which end as well.
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(nodes.map((node) => node.format()));
    // Every start settles before any broker is stopped.
    const starts = await Promise.allSettled(nodes.map((node) => node.start()));
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, addresses: nodes.map(({ address }) => address).join(','), stop };
}
