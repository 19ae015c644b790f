import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runGo } from '../../stack/go-programs.ts';
import { installJars } from '../../stack/jars.ts';
import { installPrograms, missingPrograms, runProgram } from '../../stack/programs.ts';
import { clientProgram, programForEach } from './client-program.ts';
import type { Told } from './client-program.ts';
import type { Access, StartClient } from './client.ts';

const FIXTURES = resolve('test', 'clients', 'fixtures');
const INSTALLED = resolve('.stack', 'clients');

/** Where the packages that this file names are installed. */
function folderOf(...manifest: readonly [string, string]): string {
  const hash = createHash('sha256').update(readFileSync(join(FIXTURES, ...manifest)));
  return join(INSTALLED, `${manifest[0]}-${hash.digest('hex').slice(0, 12)}`);
}

/** Programs read the token when they connect. */
const tokenFile = (access?: Access): Record<string, string> => (access ? { TOKEN_FILE: access.tokenFile } : {});

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
export async function installGql(transport: 'websockets' | 'aiohttp' | 'multipart'): Promise<StartClient> {
  const folder = await gqlPackages();
  const script = join(FIXTURES, 'gql', 'client.py');
  const urlOf = transport === 'multipart' ? String : webSocketUrl;
  return (url, access) =>
    clientProgram('python3', [script, transport, urlOf(url)], { PYTHONPATH: folder, ...tokenFile(access) });
}

/** The program of a fixture in Go, which builds only what has changed. */
export async function goProgram(fixture: string): Promise<string> {
  const program = join(INSTALLED, fixture);
  await runGo(['build', '-o', program, '.'], {}, join(FIXTURES, fixture));
  return program;
}

/** The folder of the classes of a fixture in Java and of the sources that it uses. */
async function javaClasses(fixture: string, ...sources: readonly string[]): Promise<string> {
  await installPrograms(await missingPrograms(['javac']));
  const folder = join(INSTALLED, fixture);
  const own = readdirSync(join(FIXTURES, fixture)).map((name) => join(FIXTURES, fixture, name));
  await runProgram('javac', ['-d', folder, ...sources, ...own]);
  return folder;
}

/** Hasura's go-graphql-client. */
export async function installGoClient(): Promise<StartClient> {
  const program = await goProgram('go-graphql-client');
  return (url, access) => clientProgram(program, [webSocketUrl(url)], tokenFile(access));
}

/** Spring for GraphQL. */
export async function installSpring(): Promise<StartClient> {
  await installPrograms(await missingPrograms(['javac']));
  const jars = folderOf('spring', 'pom.xml');
  await mkdir(INSTALLED, { recursive: true });
  await installJars(join(FIXTURES, 'spring'), jars);
  const words = ['-Xmx128m', '-cp', join(jars, '*'), join(FIXTURES, 'spring', 'SpringClient.java')];
  return (url, access) => clientProgram('java', [...words, webSocketUrl(url)], tokenFile(access));
}

/** `clients/python`. */
export async function installPython(): Promise<StartClient> {
  const folder = await gqlPackages();
  const script = join(FIXTURES, 'resume-python', 'client.py');
  return (url, access) =>
    programForEach(
      (query, variables) => [
        'python3',
        script,
        resolve('clients', 'python'),
        webSocketUrl(url),
        query,
        JSON.stringify(variables),
      ],
      { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1', ...tokenFile(access) },
    );
}

/** `clients/go`. */
export async function installGo(): Promise<StartClient> {
  const program = await goProgram('resume-go');
  return (url, access) =>
    programForEach(
      (query, variables) => [program, webSocketUrl(url), query, JSON.stringify(variables)],
      tokenFile(access),
    );
}

/** The words that run `clients/java`, which a URL, a document and its variables follow. */
export async function javaProgram(): Promise<readonly string[]> {
  const classes = await javaClasses('resume-java', resolve('clients', 'java', 'ResumingSubscription.java'));
  return ['java', '-Xmx64m', '-cp', classes, 'ResumeClient'];
}

/** `clients/java`. */
export async function installJava(): Promise<StartClient> {
  const words = await javaProgram();
  return (url, access) =>
    programForEach(
      (query, variables) => [...words, webSocketUrl(url), query, JSON.stringify(variables)],
      tokenFile(access),
    );
}

/** curl, over server-sent events. */
export async function installCurl(): Promise<StartClient> {
  await installPrograms(await missingPrograms(['curl']));
  return (url, access) =>
    programForEach(
      (query, variables) => [
        ...['curl', '-sSN', url, '-d', JSON.stringify({ query, variables })],
        ...['-H', 'accept: text/event-stream', '-H', 'content-type: application/json'],
        ...(access ? ['-H', `authorization: Bearer ${readFileSync(access.tokenFile, 'utf8')}`] : []),
      ],
      {},
      toldByEvents,
    );
}

/** What a line of a stream of server-sent events says. */
function toldByEvents(line: string): Told {
  if (line === 'event: complete') return { isComplete: true };
  const data = /^data: (.+)/.exec(line)?.[1];
  return data === undefined ? undefined : (JSON.parse(data) as Told);
}
