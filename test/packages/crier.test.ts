import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { spawnPod } from '../end-to-end/pod.ts';
import { installed, packAll } from './packed.ts';

const run = promisify(execFile);

const SCHEMA = `type Subscription { tick: Tick @kafka(topic: "ticks") }
type Tick { n: Int, twice: Int }
`;
const RESOLVERS = `export const Tick = { twice: ({ n }: { n: number }) => n * 2 };\n`;

it('crier, installed from its archive, serves a graph of TypeScript outside of it, and brings no tool of its tests', async (t) => {
  const archives = await packAll(t);
  const folder = await installed(t, archives.get('crier')!, archives.get('babel-plugin-proxy-lazy')!);
  const own = join(folder, 'node_modules', 'crier');
  const files = await readdir(own, { recursive: true });
  assert.deepEqual(
    files.filter((file) => /(^|\/)(test|loadtest|stack|fixtures)\/|\.test\./.test(file)),
    [],
  );
  for (const name of ['@babel/cli', '@babel/preset-env', 'typescript', 'playwright-core', 'graphiql'])
    assert.ok(!existsSync(join(folder, 'node_modules', name)), name);

  const graph = join(folder, 'graph');
  await mkdir(graph);
  await writeFile(join(graph, 'schema.graphql'), SCHEMA);
  await writeFile(join(graph, 'resolvers.ts'), RESOLVERS);
  await writeFile(
    join(graph, 'samples.ts'),
    `export function* records() { yield { topic: 'ticks', value: { n: 1 } }; }\n`,
  );
  const { stdout } = await run(join(folder, 'node_modules', '.bin', 'crier'), ['--version'], { cwd: folder });
  assert.match(stdout, /^0\./);
  const pod = await spawnPod(t, { GRAPH: graph }, { main: join(own, 'dist', 'src', 'main.js') }).started();
  assert.equal(await pod.stop(), 0);
});
