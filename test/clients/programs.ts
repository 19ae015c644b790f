import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runGo } from '../../stack/go-programs.ts';
import { installJars } from '../../stack/jars.ts';
import { installPrograms, missingPrograms, runProgram } from '../../stack/programs.ts';
import { ClientProgram } from './client-program.ts';
import type { StartClient } from './javascript-clients.ts';

const FIXTURES = resolve('test', 'clients', 'fixtures');
const INSTALLED = resolve('.stack', 'clients');

/** Where the packages that this file names are installed. */
function folderOf(...manifest: readonly [string, string]): string {
  const hash = createHash('sha256').update(readFileSync(join(FIXTURES, ...manifest)));
  return join(INSTALLED, `${manifest[0]}-${hash.digest('hex').slice(0, 12)}`);
}

const webSocketUrl = (url: string) => url.replace('http', 'ws');

/** The folder of Python's gql and what it needs. A folder of its own needs no virtual environment. */
export async function gqlPackages(): Promise<string> {
  const folder = folderOf('gql', 'requirements.txt');
  if (existsSync(folder)) return folder;
  await installPrograms(await missingPrograms(['pip3']));
  // The folder is renamed once it is complete.
  const draft = `${folder}-${process.pid}`;
  const flags = ['-q', '--no-deps', '--only-binary=:all:', '--root-user-action=ignore', '--target', draft];
  try {
    await runProgram('python3', ['-m', 'pip', 'install', ...flags, '-r', join(FIXTURES, 'gql', 'requirements.txt')]);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Python's gql. */
export async function installGql(transport: 'websocket' | 'multipart'): Promise<StartClient> {
  const folder = await gqlPackages();
  const script = join(FIXTURES, 'gql', 'client.py');
  const urlOf = transport === 'websocket' ? webSocketUrl : String;
  return (url) => new ClientProgram('python3', [script, urlOf(url)], { PYTHONPATH: folder });
}

/** The program of a fixture in Go, which builds only what has changed. */
export async function goProgram(fixture: string): Promise<string> {
  const program = join(INSTALLED, fixture);
  await runGo(['build', '-o', program, '.'], {}, join(FIXTURES, fixture));
  return program;
}

/** The folder of the classes of a fixture in Java and of the sources that it uses. */
export async function javaClasses(fixture: string, ...sources: readonly string[]): Promise<string> {
  await installPrograms(await missingPrograms(['javac']));
  const folder = join(INSTALLED, fixture);
  const own = readdirSync(join(FIXTURES, fixture)).map((name) => join(FIXTURES, fixture, name));
  await runProgram('javac', ['-d', folder, ...sources, ...own]);
  return folder;
}

/** Hasura's go-graphql-client. */
export async function installGoClient(): Promise<StartClient> {
  const program = await goProgram('go-graphql-client');
  return (url) => new ClientProgram(program, [webSocketUrl(url)]);
}

/** Spring for GraphQL. */
export async function installSpring(): Promise<StartClient> {
  await installPrograms(await missingPrograms(['javac']));
  const jars = folderOf('spring', 'pom.xml');
  await mkdir(INSTALLED, { recursive: true });
  await installJars(join(FIXTURES, 'spring'), jars);
  const words = ['-Xmx128m', '-cp', join(jars, '*'), join(FIXTURES, 'spring', 'SpringClient.java')];
  return (url) => new ClientProgram('java', [...words, webSocketUrl(url)]);
}
