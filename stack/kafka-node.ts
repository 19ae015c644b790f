import { execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import kafkajs from 'kafkajs';
import { installHint } from './programs.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

const run = promisify(execFile);

/** A version of Kafka, such as 3.9.2, in place of the one of stack/kafka/pom.xml. */
export const KAFKA_VERSION = process.env['TEST_KAFKA'] || undefined;

export const KAFKA_LIBS_FOLDER = join(
  process.cwd(),
  '.stack',
  KAFKA_VERSION === undefined ? 'kafka' : `kafka-${KAFKA_VERSION}`,
  'libs',
);

const CLASSPATH = join(KAFKA_LIBS_FOLDER, '*');
/** The classes that a broker loads, ready to be mapped: a start takes half of the time and a third of the CPU. Without the file it is slower. */
export const KAFKA_CLASSES = join(dirname(KAFKA_LIBS_FOLDER), 'classes.jsa');
const MAPPED_CLASSES = ['-XX:+IgnoreUnrecognizedVMOptions', `-XX:SharedArchiveFile=${KAFKA_CLASSES}`, '-Xlog:cds=off'];
/** For brokers that tests start and soon end. */
const SHORT_LIVED = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...MAPPED_CLASSES];
/** For brokers that users or measurements load: Java optimises what runs often. */
export const LONG_LIVED = ['-Xmx384m', ...MAPPED_CLASSES];
const FIX = installHint(['java']);
const START_TIMEOUT_MS = 120_000;

/** A cluster id in Kafka's format. It starts with a letter: a leading dash would be read as a flag. */
export function createClusterId(): string {
  return `c${randomBytes(16).toString('base64url').slice(1)}`;
}

/** A listener on loopback, beside the one without TLS and SASL. */
export interface KafkaListener {
  /** Upper-case letters. */
  readonly name: string;
  readonly protocol: 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';
  readonly port: number;
  /** The port that the broker advertises. Default: `port`. */
  readonly advertisedPort?: number;
}

export interface KafkaNodeOptions {
  /** From 1; the controller of node 1 has the first of `controllerPorts`. */
  readonly id: number;
  readonly port: number;
  /** Controller ports of all nodes of the cluster. Each node is a broker and a controller. */
  readonly controllerPorts: readonly number[];
  readonly clusterId: string;
  /** Default: `SHORT_LIVED`. */
  readonly javaFlags?: readonly string[];
  /** Folder of its properties and its data. */
  readonly folder: string;
  readonly listeners?: readonly KafkaListener[];
  /** Lines of its properties beside those that every node has. */
  readonly properties?: readonly string[];
  /** Further arguments of `kafka-storage format`. */
  readonly formatFlags?: readonly string[];
}

/** One Kafka process (KRaft). It may be ended in any way and restarted with its data on its port. */
export class KafkaNode {
  readonly port: number;
  /** `host:port` */
  readonly address: string;
  readonly #options: KafkaNodeOptions;
  readonly #properties: string;
  #service: Service | undefined;

  constructor(options: KafkaNodeOptions) {
    this.#options = options;
    this.port = options.port;
    this.address = `127.0.0.1:${options.port}`;
    this.#properties = join(options.folder, `server-${options.id}.properties`);
  }

  /** @throws Error before the first start. */
  get process(): ChildProcess {
    if (!this.#service) throw new Error(`Kafka on port ${this.port} was not started`);
    return this.#service.process;
  }

  /** Formats its log folder, once. */
  async format(): Promise<void> {
    await writeFile(this.#properties, serverProperties(this.#options));
    const { clusterId, formatFlags = [] } = this.#options;
    await run('java', [
      ...SHORT_LIVED,
      ...['-cp', CLASSPATH, 'kafka.tools.StorageTool'],
      ...['format', '-t', clusterId, '-c', this.#properties, ...formatFlags],
    ]).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error(`Kafka: java was not found; ${FIX}`, { cause: error });
    });
  }

  /** Resolves when the cluster has registered the broker, which needs a majority of the controllers. */
  async start(): Promise<void> {
    const { id, javaFlags = SHORT_LIVED } = this.#options;
    this.#service = await startService({
      name: `Kafka on port ${this.port}`,
      command: 'java',
      arguments: [...javaFlags, '-cp', CLASSPATH, 'kafka.Kafka', this.#properties],
      fix: FIX,
      isReady: () => isListed(this.address, id),
      timeoutMs: START_TIMEOUT_MS,
    });
  }

  /** SIGKILL: no controlled shutdown. Resolves when the process has ended. */
  async kill(): Promise<void> {
    this.#service?.process.kill('SIGKILL');
    await this.#service?.stop();
  }

  /** SIGTERM, and SIGKILL after 10 s. Resolves when the process has ended. Idempotent. */
  async stop(): Promise<void> {
    await this.#service?.stop();
  }
}

function serverProperties({
  id,
  port,
  controllerPorts,
  folder,
  listeners = [],
  properties = [],
}: KafkaNodeOptions): string {
  const replicas = Math.min(3, controllerPorts.length);
  const minInSync = replicas === 3 ? 2 : 1;
  const voters = controllerPorts.map((controllerPort, i) => `${i + 1}@127.0.0.1:${controllerPort}`).join(',');
  const clients: readonly KafkaListener[] = [{ name: 'PLAINTEXT', protocol: 'PLAINTEXT', port }, ...listeners];
  const addresses = clients.map((one) => `${one.name}://127.0.0.1:${one.port}`).join(',');
  const advertised = clients.map((one) => `${one.name}://127.0.0.1:${one.advertisedPort ?? one.port}`).join(',');
  const protocols = clients.map(({ name, protocol }) => `${name}:${protocol}`).join(',');
  return `process.roles=broker,controller
node.id=${id}
controller.quorum.voters=${voters}
listeners=${addresses},CONTROLLER://127.0.0.1:${controllerPorts[id - 1]}
advertised.listeners=${advertised}
controller.listener.names=CONTROLLER
listener.security.protocol.map=${protocols},CONTROLLER:PLAINTEXT
log.dirs=${join(folder, `logs-${id}`)}
default.replication.factor=${replicas}
min.insync.replicas=${minInSync}
offsets.topic.replication.factor=${replicas}
transaction.state.log.replication.factor=${replicas}
transaction.state.log.min.isr=${minInSync}
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=3
transaction.state.log.num.partitions=3
auto.create.topics.enable=false
num.partitions=4
${properties.join('\n')}
`;
}

async function isListed(address: string, id: number): Promise<boolean> {
  const admin = new kafkajs.Kafka({
    brokers: [address],
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 1000,
    retry: { retries: 0 },
  }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.some(({ nodeId }) => nodeId === id);
  } catch {
    return false;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}
