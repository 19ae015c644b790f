import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installJars } from './jars.ts';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';
import { until } from './until.ts';

const FIX = installHint(['java']);
const START_TIMEOUT_MS = 120_000;

export type ConnectorSettings = Readonly<Record<string, string>>;

export interface ConnectOptions {
  /** `host:port` */
  readonly kafka: string;
  /** Where it keeps how far its connectors have read: a Connect that is started again with it goes on there. */
  readonly folder: string;
  /**
   * The folder in stack/ whose pom.xml names the connector and fixes the versions. Default: `debezium`, Debezium's connector for PostgreSQL and
   * Apicurio's converters.
   */
  readonly jars?: 'debezium' | 'debezium-mariadb' | 'debezium-mongodb';
}

/** A worker of Kafka Connect with a connector of Debezium, on loopback. */
export interface Connect extends Service {
  /** Starts a connector. Resolves when its task runs. @throws Error with the reason if it fails */
  startConnector(name: string, settings: ConnectorSettings): Promise<void>;
  /** True if its task runs. @throws Error with the reason if it failed */
  isRunning(name: string): Promise<boolean>;
  /** SIGKILL: what it has read since it last wrote down how far, it reads again. Resolves when the process has ended. */
  kill(): Promise<void>;
}

export async function startConnect({ kafka, folder, jars = 'debezium' }: ConnectOptions): Promise<Connect> {
  const libs = join(process.cwd(), '.stack', jars, 'libs');
  await installJars(join('stack', jars), libs);
  const [port] = (await freePorts(1)) as [number];
  const url = `http://127.0.0.1:${port}`;
  const properties = join(folder, 'connect.properties');
  await writeFile(properties, workerProperties(kafka, url, join(folder, 'connect.offsets')));
  const service = await startService({
    name: `Kafka Connect on port ${port}`,
    command: 'java',
    arguments: [
      ...['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Duser.timezone=UTC'],
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
      ...['-cp', join(libs, '*'), 'org.apache.kafka.connect.cli.ConnectStandalone', properties],
    ],
    fix: FIX,
    isReady: () =>
      fetch(`${url}/connectors`).then(
        ({ ok }) => ok,
        () => false,
      ),
    timeoutMs: START_TIMEOUT_MS,
  });
  const isRunning = async (name: string) => {
    const { tasks } = (await call(`${url}/connectors/${name}/status`, 'GET')) as ConnectorStatus;
    const failed = tasks.find(({ state }) => state === 'FAILED');
    if (failed) throw new Error(`the connector ${name} failed: ${failed.trace}`);
    return tasks.some(({ state }) => state === 'RUNNING');
  };
  const startConnector = async (name: string, settings: ConnectorSettings) => {
    await call(`${url}/connectors/${name}/config`, 'PUT', settings);
    await until(`the connector ${name} to run`, () => isRunning(name));
  };
  const kill = async () => {
    service.process.kill('SIGKILL');
    await service.stop();
  };
  return { ...service, startConnector, isRunning, kill };
}

interface ConnectorStatus {
  readonly tasks: readonly { readonly state: string; readonly trace?: string }[];
}

async function call(url: string, method: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  // A connector that has just been made has no status yet.
  if (response.status === 404) return { tasks: [] };
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

function workerProperties(kafka: string, url: string, offsets: string): string {
  return `bootstrap.servers=${kafka}
listeners=${url}
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
offset.storage.file.filename=${offsets}
offset.flush.interval.ms=1000
plugin.discovery=service_load
topic.creation.enable=true
`;
}
