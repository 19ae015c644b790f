import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import kafkajs from 'kafkajs';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

const run = promisify(execFile);

export interface KafkaBroker extends Service {
  readonly port: number;
  /** `host:port`, as KAFKA_BROKERS wants it. */
  readonly address: string;
}

const STACK_FOLDER = join(process.cwd(), '.stack', 'kafka');
const LIBS_FOLDER = join(STACK_FOLDER, 'libs');

/** Kafka's jars by Maven (deploy/kafka/pom.xml fixes the version), into .stack/kafka/libs, once. */
export async function installKafka(): Promise<void> {
  const jars = await readdir(LIBS_FOLDER).catch(() => [] as string[]);
  if (jars.some((jar) => jar.startsWith('kafka_2.13-'))) return;
  // Moved into place when it is whole: an interrupted download must not pass for an installation.
  const partial = `${LIBS_FOLDER}-${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    await run('mvn', ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${partial}`], {
      cwd: join(process.cwd(), 'deploy', 'kafka'),
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error(`Kafka: mvn was not found; ${installHint(['mvn', 'java'])}`);
    });
    await rm(LIBS_FOLDER, { recursive: true, force: true });
    await rename(partial, LIBS_FOLDER);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** One KRaft broker on loopback with a fresh log folder, which is removed at stop(). `port`: free if not given. */
export async function startKafkaBroker({ port }: { port?: number } = {}): Promise<KafkaBroker> {
  await installKafka();
  const ports = await freePorts(2);
  const brokerPort = port ?? ports[0]!;
  const folder = await mkdtemp(join(tmpdir(), 'crier-kafka-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    const service = await startBroker(folder, brokerPort, ports[1]!);
    return {
      process: service.process,
      port: brokerPort,
      address: `127.0.0.1:${brokerPort}`,
      stop: async () => {
        await service.stop();
        await removeFolder();
      },
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function startBroker(folder: string, port: number, controllerPort: number): Promise<Service> {
  const properties = join(folder, 'server.properties');
  await writeFile(properties, serverProperties(port, controllerPort, join(folder, 'logs')));
  const mend = installHint(['java']);
  const classpath = join(LIBS_FOLDER, '*');
  const storageTool = async (...command: string[]) => {
    try {
      return (await run('java', ['-cp', classpath, 'kafka.tools.StorageTool', ...command])).stdout.trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new Error(`Kafka: java was not found; ${mend}`, { cause: error });
    }
  };
  await storageTool('format', '-t', await storageTool('random-uuid'), '-c', properties);
  return startService({
    name: `Kafka on port ${port}`,
    command: 'java',
    arguments: ['-Xmx384m', '-cp', classpath, 'kafka.Kafka', properties],
    mend,
    isReady: () => answersMetadata(`127.0.0.1:${port}`),
    timeoutMs: 120_000,
  });
}

function serverProperties(broker: number, controller: number, logFolder: string): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=PLAINTEXT://127.0.0.1:${broker},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://127.0.0.1:${broker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=${logFolder}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
num.partitions=4
`;
}

async function answersMetadata(address: string): Promise<boolean> {
  const admin = new kafkajs.Kafka({
    brokers: [address],
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 1000,
    retry: { retries: 0 },
  }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length > 0;
  } catch {
    return false;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}
