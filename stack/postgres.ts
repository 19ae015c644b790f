import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import { Psql } from './psql.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

const run = promisify(execFile);

/** Where Debian keeps a folder for each major version. */
const VERSIONS_FOLDER = '/usr/lib/postgresql';
const FIX = installHint(['psql']);
const START_TIMEOUT_MS = 60_000;

/** Logical decoding for a few connectors; no durability. The connectors confirm what they have read, so little of the log is kept. */
const SETTINGS = {
  wal_level: 'logical',
  max_wal_senders: '16',
  max_replication_slots: '16',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  // Nothing is left in /dev/shm when the server is killed.
  dynamic_shared_memory_type: 'mmap',
  listen_addresses: '127.0.0.1',
  timezone: 'UTC',
};

export interface PostgresServer extends Service {
  readonly port: number;
  /** The database `postgres` of the user `postgres`, who needs no password. */
  readonly session: Psql;
}

/** Starts a PostgreSQL with logical decoding on loopback, in a temporary folder that stop() removes. It refuses root, so root starts it as `postgres`. */
export async function startPostgres(): Promise<PostgresServer> {
  const programs = await programsFolder();
  const [port] = (await freePorts(1)) as [number];
  const folder = await mkdtemp(join(tmpdir(), 'crier-postgres-'));
  const [user, prefix] = await unprivileged();
  if (user !== undefined) await chown(folder, user, user);
  const data = join(folder, 'data');
  const settings = Object.entries({ ...SETTINGS, port, unix_socket_directories: folder });
  let service: Service | undefined;
  let session: Psql | undefined;
  const stop = async () => {
    session?.end();
    // Immediate shutdown: other ones wait for sessions or connectors, and its data is removed anyway.
    service?.process.kill('SIGQUIT');
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const initdb = [join(programs, 'initdb'), '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'];
    const [initdbCommand, ...initdbArguments] = [...prefix, ...initdb, '--locale=C', '--no-sync'];
    await run(initdbCommand, initdbArguments, { cwd: folder });
    const [command, ...rest] = [...prefix, join(programs, 'postgres'), '-D', data];
    service = await startService({
      name: `PostgreSQL on port ${port}`,
      command: command,
      arguments: [...rest, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      fix: FIX,
      isReady: () =>
        run('pg_isready', ['-q', '-h', '127.0.0.1', '-p', `${port}`]).then(
          () => true,
          () => false,
        ),
      timeoutMs: START_TIMEOUT_MS,
    });
    session = new Psql(port);
    return { process: service.process, port, session, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function programsFolder(): Promise<string> {
  const versions = await readdir(VERSIONS_FOLDER).catch(() => [] as string[]);
  const newest = versions.filter((name) => /^\d+$/.test(name)).sort((one, other) => +other - +one)[0];
  if (newest === undefined) throw new Error(`PostgreSQL was not found in ${VERSIONS_FOLDER}; ${FIX}`);
  return join(VERSIONS_FOLDER, newest, 'bin');
}

/** The user that owns the server's files if this process is root, and the command before those of the server. It keeps the process id. */
async function unprivileged(): Promise<[number | undefined, string[]]> {
  if (process.getuid?.() !== 0) return [undefined, []];
  const { stdout } = await run('id', ['-u', 'postgres']).catch(() => {
    throw new Error(`there is no user postgres; ${FIX}`);
  });
  return [Number(stdout), ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--']];
}
