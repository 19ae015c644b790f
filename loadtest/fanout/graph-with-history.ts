import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const GRAPH = 'loadtest/graphs/fanout';
const END_OF_BINDING = 'payload: "auction")';

export interface TemporaryGraph {
  readonly path: string;
  remove(): Promise<void>;
}

/** The benchmark's graph, but its channels keep a history. */
export async function graphWithHistory(): Promise<TemporaryGraph> {
  const path = await mkdtemp(join(tmpdir(), 'crier-graph-'));
  await cp(GRAPH, path, { recursive: true });
  const schemaFile = join(path, 'schema.graphql');
  const schema = await readFile(schemaFile, 'utf8');
  const [before, after] = schema.split(END_OF_BINDING);
  if (after === undefined) throw new Error(`${GRAPH}/schema.graphql: no "${END_OF_BINDING}" to add a history to`);
  await writeFile(schemaFile, `${before}payload: "auction", history: {})${after}`);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
