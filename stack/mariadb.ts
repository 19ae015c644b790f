import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

const run = promisify(execFile);

const FIX = installHint(['mariadbd']);
const START_TIMEOUT_MS = 60_000;

/** Row binlogs with whole rows, as Debezium needs them; no durability. */
const SETTINGS = {
  'server-id': '1',
  'log-bin': 'binlog',
  'binlog-format': 'ROW',
  'binlog-row-image': 'FULL',
  'innodb-flush-log-at-trx-commit': '0',
  'innodb-buffer-pool-size': '32M',
  'bind-address': '127.0.0.1',
  'default-time-zone': '+00:00',
};

export interface MariadbServer extends Service {
  readonly port: number;
  /** Such as `10.11.19-MariaDB-0+deb12u1`. */
  readonly version: string;
  /**
   * Runs statements in the database `shop`, as the user `root`, who needs no password.
   * @throws Error with what the server says, if one of them fails; none after it is run
   */
  readonly query: (statements: string) => Promise<void>;
}

/** Starts a MariaDB with binlogs on loopback, in a temporary folder that stop() removes. */
export async function startMariadb(): Promise<MariadbServer> {
  const [port] = (await freePorts(1)) as [number];
  const folder = await mkdtemp(join(tmpdir(), 'crier-mariadb-'));
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const places = [`--datadir=${join(folder, 'data')}`, ...user];
  const settings = Object.entries({ ...SETTINGS, port, socket: join(folder, 'socket') });
  const client = ['--no-defaults', '-h', '127.0.0.1', '-P', `${port}`, '-u', 'root'];
  let service: Service | undefined;
  const stop = async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const flags = ['--no-defaults', '--skip-test-db', '--auth-root-authentication-method=normal'];
    await run('mariadb-install-db', [...flags, ...places]);
    service = await startService({
      name: `MariaDB on port ${port}`,
      command: 'mariadbd',
      arguments: ['--no-defaults', ...places, ...settings.map(([name, value]) => `--${name}=${value}`)],
      fix: FIX,
      isReady: () =>
        run('mariadb', [...client, '-e', 'create database if not exists shop']).then(
          () => true,
          () => false,
        ),
      timeoutMs: START_TIMEOUT_MS,
    });
    const { stdout: version } = await run('mariadb', [...client, '-N', '-B', '-e', 'select version()']);
    const query = async (statements: string) => void (await run('mariadb', [...client, 'shop', '-e', statements]));
    return { process: service.process, port, version: version.trim(), query, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
