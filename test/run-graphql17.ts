import { execFile } from 'node:child_process';
import { cp, mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stopSignal } from '../stack/stop-signal.ts';
import { installPackage, testOnNode } from './versions/node-lines.ts';

/** `npm run test:graphql17`: the tests of what graphql-js can change, with graphql 17 on Node 24, because 17 refuses Node 20. */
const GRAPHQL_VERSION = '17.1.0';
const FOLDER = join('.stack', 'graphql17');

const CAN_DIFFER = [
  'gateway/fanout',
  'gateway/http',
  'gateway/operations',
  'graph',
  'graphs',
  'library',
  'gateway/websocket/trusted-documents',
];
/** Of these, the browser's. */
const NOT_THERE = ['gateway/http/graphiql', 'gateway/http/graphiql-connection'];

const run = promisify(execFile);

/** Gives the copy of the project packages of its own, as links of the files, and of graphql the other version. */
async function replaceGraphql(folder: string): Promise<void> {
  await installPackage(FOLDER, `graphql@${GRAPHQL_VERSION}`);
  const installed = await realpath('node_modules');
  const modules = join(folder, 'node_modules');
  await rm(modules);
  await mkdir(modules);
  // Another file system has no links of these files.
  await run('cp', ['-al', `${installed}/.`, modules]).catch(() => run('cp', ['-a', `${installed}/.`, modules]));
  const graphql = join(modules, 'graphql');
  await rm(graphql, { recursive: true });
  await cp(join(FOLDER, 'node_modules', 'graphql'), graphql, { recursive: true });
}

try {
  await testOnNode(24, stopSignal(), [...CAN_DIFFER, `--except=${NOT_THERE.join(',')}`], replaceGraphql);
  process.exit(0);
} catch (error) {
  process.stderr.write(`npm run test:graphql17: ${(error as Error).message}\n`);
  process.exit(1);
}
