import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { ConnectOptions, ConnectorSettings } from '../../stack/connect.ts';
import { installJars } from '../../stack/jars.ts';
import { startMariadb } from '../../stack/mariadb.ts';
import { freePorts } from '../../stack/port.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { debezium } from './record-connectors.ts';

/** A database that a connector reads. */
export interface Source {
  /** What its connector needs to run here, beside the settings of the recipe. It has no effect on its records. */
  readonly settings: ConnectorSettings;
  /** What is said of it in a recording. */
  readonly versions: Readonly<Record<string, string>>;
  query(statements: string): Promise<unknown>;
  stop(): Promise<void>;
}

export interface SourceKind {
  readonly jars: NonNullable<ConnectOptions['jars']>;
  start(folder: string): Promise<Source>;
}

const WORKED = {
  'poll.interval.ms': '20',
  'topic.creation.default.replication.factor': '1',
  'topic.creation.default.partitions': '1',
};

export const POSTGRESQL: SourceKind = {
  jars: 'debezium',
  async start() {
    const server = await startPostgres();
    const { port, session } = server;
    const [[version]] = (await session.query('show server_version')) as [[string]];
    return {
      settings: debezium('recipe', port),
      versions: { postgresql: version, debezium: '3.7.0.Final' },
      query: (statements) => session.query(statements),
      stop: () => server.stop(),
    };
  },
};

/** Debian has MariaDB, and no server of MySQL. */
export const MARIADB: SourceKind = {
  jars: 'debezium-mariadb',
  async start(folder) {
    const server = await startMariadb();
    const { port, version, query } = server;
    const settings = {
      ...WORKED,
      'database.hostname': '127.0.0.1',
      'database.port': `${port}`,
      'database.user': 'root',
      'database.password': '',
      'database.server.id': '7',
      'schema.history.internal': 'io.debezium.storage.file.history.FileSchemaHistory',
      'schema.history.internal.file.filename': join(folder, 'history'),
    };
    return { settings, versions: { mariadb: version, debezium: '3.5.0.Final' }, query, stop: () => server.stop() };
  },
};

const MONGO_JARS = join('.stack', 'debezium-mongodb', 'libs');

/** No server of MongoDB is in Debian: mongo-java-server has its protocol and change streams. */
export const MONGODB: SourceKind = {
  jars: 'debezium-mongodb',
  async start() {
    await installJars(join('stack', 'debezium-mongodb'), MONGO_JARS);
    const [port] = (await freePorts(1)) as [number];
    const program = join('stack', 'debezium-mongodb', 'MongoServer.java');
    const flags = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=off', '-cp', join(MONGO_JARS, '*')];
    const child = spawn('java', [...flags, program, `${port}`], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const read = async () => {
      const { value, done } = (await lines.next()) as { value?: string; done?: boolean };
      if (done) throw new Error('mongo-java-server ended');
      return value!;
    };
    await read();
    return {
      settings: {
        'poll.interval.ms': '20',
        'capture.scope': 'collection',
        'capture.target': 'shop.orders',
        'mongodb.connection.string': `mongodb://127.0.0.1:${port}/?directConnection=true`,
      },
      versions: { 'mongo-java-server': '1.47.0', debezium: '3.6.1.Final' },
      query: (command) => {
        child.stdin.write(`${command}\n`);
        return read();
      },
      stop: () => {
        child.stdin.end();
        return ended;
      },
    };
  },
};
