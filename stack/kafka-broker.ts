import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installJars } from './jars.ts';
import { KAFKA_LIBS_FOLDER, KafkaNode, createClusterId } from './kafka-node.ts';
import type { KafkaNodeOptions } from './kafka-node.ts';
import { freePorts } from './port.ts';
import type { Service } from './service.ts';

export interface KafkaBroker extends Service {
  readonly port: number;
  /** `host:port`, a value for KAFKA_BROKERS. */
  readonly address: string;
}

/** Downloads Kafka's jars into .stack/kafka/libs, once. */
export function installKafka(): Promise<void> {
  return installJars(join('stack', 'kafka'), KAFKA_LIBS_FOLDER);
}

export interface KafkaBrokerOptions extends Pick<KafkaNodeOptions, 'listeners' | 'properties' | 'formatFlags'> {
  /** Default: a free port. */
  readonly port?: number;
}

/** Starts one KRaft broker on loopback with an empty log folder, which stop() removes. */
export async function startKafkaBroker({ port, ...options }: KafkaBrokerOptions = {}): Promise<KafkaBroker> {
  await installKafka();
  const [free, controllerPort] = (await freePorts(2)) as [number, number];
  const folder = await mkdtemp(join(tmpdir(), 'crier-kafka-'));
  const node = new KafkaNode({
    id: 1,
    port: port ?? free,
    controllerPorts: [controllerPort],
    clusterId: createClusterId(),
    javaFlags: ['-Xmx384m'],
    folder,
    ...options,
  });
  const stop = async () => {
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await node.format();
    await node.start();
    return { process: node.process, port: node.port, address: node.address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
