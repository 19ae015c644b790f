import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

const run = promisify(execFile);

const FOLDER = join(process.cwd(), '.stack', 'schema-registry');
const FIX = installHint(['mvn', 'java']);
const START_TIMEOUT_MS = 120_000;

export interface SchemaRegistryServer extends Service {
  readonly port: number;
  /** A value for SCHEMA_REGISTRY_URL. */
  readonly url: string;
  /** SIGKILL: open requests break off. Resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Downloads Apicurio Registry with Maven into .stack/schema-registry, once. stack/schema-registry/pom.xml fixes the version. */
async function install(): Promise<string> {
  const runner = await findRunner();
  if (runner !== undefined) return runner;
  // The folder is renamed once it is complete, so that an interrupted download does not count as an installation.
  const partial = `${FOLDER}-${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    const folders = [`-DoutputDirectory=${partial}`, `-DmarkersDirectory=${partial}/unpacked`];
    await run('mvn', ['-q', '-B', 'dependency:unpack-dependencies', ...folders], {
      cwd: join(process.cwd(), 'stack', 'schema-registry'),
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error(`schema registry: mvn was not found; ${FIX}`);
    });
    // Another process may have been faster.
    await rename(partial, FOLDER).catch(() => undefined);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  const installed = await findRunner();
  if (installed === undefined) throw new Error(`schema registry: ${FOLDER} has no runner; remove it and try again`);
  return installed;
}

async function findRunner(): Promise<string | undefined> {
  const files = await readdir(FOLDER).catch(() => [] as string[]);
  const runner = files.find((file) => file.endsWith('-runner.jar'));
  return runner === undefined ? undefined : join(FOLDER, runner);
}

/** The value for SCHEMA_REGISTRY_URL of a registry on loopback. */
export function registryUrl(port: number): string {
  return `http://127.0.0.1:${port}/apis/ccompat/v7`;
}

/**
 * Starts an Apicurio Registry on loopback, with the API of Confluent. It keeps its schemas in memory: a server that is started again gives
 * the same ids to the same schemas if they are registered in the same order.
 */
export async function startSchemaRegistry({ port }: { port?: number } = {}): Promise<SchemaRegistryServer> {
  const runner = await install();
  port ??= (await freePorts(1))[0]!;
  const url = registryUrl(port);
  const settings = [`-Dquarkus.http.host=127.0.0.1`, `-Dquarkus.http.port=${port}`];
  const service = await startService({
    name: `the schema registry on port ${port}`,
    command: 'java',
    arguments: ['-Xmx192m', '-XX:TieredStopAtLevel=1', ...settings, '-jar', runner],
    fix: FIX,
    isReady: () =>
      fetch(`${url}/subjects`).then(
        ({ ok }) => ok,
        () => false,
      ),
    timeoutMs: START_TIMEOUT_MS,
  });
  const kill = async () => {
    service.process.kill('SIGKILL');
    await service.stop();
  };
  return { ...service, port, url, kill };
}
