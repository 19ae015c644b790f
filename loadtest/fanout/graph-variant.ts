import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const GRAPH = 'loadtest/graphs/fanout';

/** Texts of the benchmark's schema that a variant replaces, each once. */
export type SchemaEdits = Readonly<Record<string, string>>;

export interface GraphVariant {
  readonly path: string;
  remove(): Promise<void>;
}

/** The edits that add arguments to `@kafka`, such as `history: {}`. */
export function withBinding(binding: string): SchemaEdits {
  return { 'payload: "auction")': `payload: "auction", ${binding})` };
}

/** The benchmark's graph with another schema. */
export async function graphVariant(edits: SchemaEdits): Promise<GraphVariant> {
  const path = await mkdtemp(join(tmpdir(), 'crier-graph-'));
  await cp(GRAPH, path, { recursive: true });
  const schemaFile = join(path, 'schema.graphql');
  let schema = await readFile(schemaFile, 'utf8');
  for (const [text, replacement] of Object.entries(edits)) {
    if (!schema.includes(text)) throw new Error(`${GRAPH}/schema.graphql: no "${text}" to replace`);
    schema = schema.replace(text, replacement);
  }
  await writeFile(schemaFile, schema);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
