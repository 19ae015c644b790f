import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KAFKA_LIBS_FOLDER, KafkaNode, createClusterId } from './kafka-node.ts';
import type { KafkaNodeOptions } from './kafka-node.ts';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import type { Service } from './service.ts';

const run = promisify(execFile);

export interface KafkaBroker extends Service {
  readonly port: number;
  /** `host:port`, a value for KAFKA_BROKERS. */
  readonly address: string;
}

/** Downloads Kafka's jars with Maven into .stack/kafka/libs, once. stack/kafka/pom.xml fixes the version. */
export async function installKafka(): Promise<void> {
  const jars = await readdir(KAFKA_LIBS_FOLDER).catch(() => [] as string[]);
  if (jars.some((jar) => jar.startsWith('kafka_2.13-'))) return;
  // The folder is renamed once it is complete, so that an interrupted download does not count as an installation.
  const partial = `${KAFKA_LIBS_FOLDER}-${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    await run('mvn', ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${partial}`], {
      cwd: join(process.cwd(), 'stack', 'kafka'),
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error(`Kafka: mvn was not found; ${installHint(['mvn', 'java'])}`);
    });
    await rm(KAFKA_LIBS_FOLDER, { recursive: true, force: true });
    await rename(partial, KAFKA_LIBS_FOLDER);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
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
