import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../runner/scope.ts';

const GRAPH = 'loadtest/graphs/fanout';

/** Texts of the benchmark's schema that a variant replaces, each once. */
export type SchemaEdits = Readonly<Record<string, string>>;

/** The edits that add arguments to `@kafka`, such as `history: {}`. */
export function withBinding(binding: string): SchemaEdits {
  return { 'payload: "auction")': `payload: "auction", ${binding})` };
}

/** A folder with these files, which the scope removes. */
export async function graphFolder(
  files: Readonly<Record<string, string>>,
  scope: Pick<Scope, 'after'>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-graph-'));
  scope.after(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** The folder of the benchmark's graph with another schema. */
export async function graphVariant(edits: SchemaEdits, scope: Pick<Scope, 'after'>): Promise<string> {
  let schema = await readFile(join(GRAPH, 'schema.graphql'), 'utf8');
  for (const [text, replacement] of Object.entries(edits)) {
    if (!schema.includes(text)) throw new Error(`${GRAPH}/schema.graphql: no "${text}" to replace`);
    schema = schema.replace(text, replacement);
  }
  const folder = await graphFolder({}, scope);
  await cp(GRAPH, folder, { recursive: true });
  await writeFile(join(folder, 'schema.graphql'), schema);
  return folder;
}
