import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installJars } from './jars.ts';
import { KAFKA_CLASSES, KAFKA_LIBS_FOLDER, KAFKA_VERSION, KafkaNode, createClusterId } from './kafka-node.ts';
import type { KafkaNodeOptions } from './kafka-node.ts';
import { freePorts } from './port.ts';
import type { Service } from './service.ts';

export interface KafkaBroker extends Service {
  readonly port: number;
  /** `host:port`, a value for KAFKA_BROKERS. */
  readonly address: string;
}

/** Downloads Kafka's jars into `KAFKA_LIBS_FOLDER` and writes `KAFKA_CLASSES`, once. */
export async function installKafka(): Promise<void> {
  const properties = KAFKA_VERSION === undefined ? {} : { 'kafka.version': KAFKA_VERSION };
  await installJars(join('stack', 'kafka'), KAFKA_LIBS_FOLDER, properties);
  if (existsSync(KAFKA_CLASSES)) return;
  const partial = `${KAFKA_CLASSES}-${process.pid}`;
  const broker = await runBroker({
    javaFlags: ['-XX:+IgnoreUnrecognizedVMOptions', `-XX:ArchiveClassesAtExit=${partial}`],
  });
  await broker.stop();
  // Before Java 13 there is none.
  if (existsSync(partial)) await rename(partial, KAFKA_CLASSES);
}

export interface KafkaBrokerOptions extends Pick<
  KafkaNodeOptions,
  'listeners' | 'properties' | 'formatFlags' | 'javaFlags'
> {
  /** Default: a free port. */
  readonly port?: number;
}

/** Starts one KRaft broker on loopback with an empty log folder, which stop() removes. */
export async function startKafkaBroker(options: KafkaBrokerOptions = {}): Promise<KafkaBroker> {
  await installKafka();
  return runBroker(options);
}

async function runBroker({ port, ...options }: KafkaBrokerOptions): Promise<KafkaBroker> {
  const [free, controllerPort] = (await freePorts(2)) as [number, number];
  const folder = await mkdtemp(join(tmpdir(), 'crier-kafka-'));
  const node = new KafkaNode({
    id: 1,
    port: port ?? free,
    controllerPorts: [controllerPort],
    clusterId: createClusterId(),
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
