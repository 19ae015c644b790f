import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ITEM_TOPIC = 'items';

const SCHEMA = `
  type Item { id: ID! n: Int! version: String parts: [Part!]! }
  type Part { id: ID! name: String price: Float }
  type Subscription { item(id: ID!): Item @kafka(topic: "${ITEM_TOPIC}", match: [{ arg: "id", path: "id" }]) }
`;

/** A graph whose results name its version, in a folder of its own. */
export class ItemGraph {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<ItemGraph> {
    const graph = new ItemGraph(await mkdtemp(join(tmpdir(), 'crier-reload-')));
    await writeFile(join(graph.folder, 'schema.graphql'), SCHEMA);
    return graph;
  }

  async write(version: string): Promise<void> {
    const resolvers = `export const Item = { version: () => '${version}' };\n`;
    await writeFile(join(this.folder, 'resolvers.js'), resolvers);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}

/** Different documents of one channel: each is validated again at a reload. */
export function documentsOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    return `subscription Watch${i} { item(id: "1") { n version parts { id name price } } }`;
  });
}

export function payloadOf(n: number): string {
  const parts = Array.from({ length: 8 }, (_, id) => ({ id: `${id}`, name: `part ${id}`, price: id / 4 }));
  return JSON.stringify({ id: '1', n, parts });
}
