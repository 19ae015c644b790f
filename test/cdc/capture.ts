import { startConnect } from '../../stack/connect.ts';
import type { Connect, ConnectorSettings } from '../../stack/connect.ts';
import { startPostgres } from '../../stack/postgres.ts';
import type { PostgresServer } from '../../stack/postgres.ts';
import { installPrograms, missingPrograms } from '../../stack/programs.ts';
import type { Psql } from '../../stack/psql.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { debezium } from './record-connectors.ts';

/** A PostgreSQL whose changes Debezium writes to Kafka. */
export class Capture {
  /** A session of the database. */
  readonly sql: Psql;
  readonly #postgres: PostgresServer;
  readonly #kafka: string;
  readonly #folder: string;
  readonly #connectors = new Map<string, ConnectorSettings>();
  #connect: Connect | undefined;

  private constructor(postgres: PostgresServer, kafka: string, folder: string) {
    this.sql = postgres.session;
    this.#postgres = postgres;
    this.#kafka = kafka;
    this.#folder = folder;
  }

  /** Installs what is missing, once. @param kafka `host:port` */
  static async start(scope: { after(fn: () => Promise<void>): void }, kafka: string): Promise<Capture> {
    await installPrograms(await missingPrograms(['psql']));
    const folder = await temporaryFolder(scope);
    const postgres = await startPostgres();
    scope.after(() => postgres.stop());
    const capture = new Capture(postgres, kafka, folder);
    scope.after(() => capture.kill());
    capture.#connect = await startConnect({ kafka, folder });
    return capture;
  }

  /** Writes the tables of a connector to topics that begin with its name. */
  async write(name: string, settings: ConnectorSettings): Promise<void> {
    const all = { ...debezium(name, this.#postgres.port), 'topic.prefix': name, ...settings };
    this.#connectors.set(name, all);
    await this.#connect!.startConnector(name, all);
  }

  /** SIGKILL: no change after this is written until the next `start`. */
  async kill(): Promise<void> {
    await this.#connect?.kill();
    this.#connect = undefined;
  }

  /** Starts Debezium again after `kill`; it goes on where it last wrote down how far it was. */
  async start(): Promise<void> {
    this.#connect = await startConnect({ kafka: this.#kafka, folder: this.#folder });
    for (const [name, settings] of this.#connectors) await this.#connect.startConnector(name, settings);
  }
}
