import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const GRAPH = 'loadtest/graphs/fanout';
const END_OF_BINDING = 'payload: "auction")';

export interface GraphVariant {
  readonly path: string;
  remove(): Promise<void>;
}

/** The benchmark's graph with additional arguments of `@kafka`, such as `history: {}`. */
export async function graphVariant(binding: string): Promise<GraphVariant> {
  const path = await mkdtemp(join(tmpdir(), 'crier-graph-'));
  await cp(GRAPH, path, { recursive: true });
  const schemaFile = join(path, 'schema.graphql');
  const schema = await readFile(schemaFile, 'utf8');
  const [before, after] = schema.split(END_OF_BINDING);
  if (after === undefined) throw new Error(`${GRAPH}/schema.graphql: no "${END_OF_BINDING}" to add "${binding}" to`);
  await writeFile(schemaFile, `${before}payload: "auction", ${binding})${after}`);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
