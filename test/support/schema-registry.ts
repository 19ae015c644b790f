import { startSchemaRegistry } from '../../stack/schema-registry.ts';
import type { SchemaRegistryServer } from '../../stack/schema-registry.ts';

const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';

/** What a producer registers. */
export interface NewSchema {
  /** Default: AVRO. */
  readonly schemaType?: 'AVRO' | 'PROTOBUF' | 'JSON';
  readonly schema: string;
  readonly references?: readonly { readonly name: string; readonly subject: string; readonly version: number }[];
}

/** Starts a schema registry, stopped at the end. The test may kill it and start it again on its port, empty. */
export async function schemaRegistry(
  t: { after(fn: () => Promise<void>): void },
  options: Parameters<typeof startSchemaRegistry>[0] = {},
): Promise<SchemaRegistryServer> {
  const server = await startSchemaRegistry(options);
  t.after(() => server.stop());
  return server;
}

/** Registers a schema as producers do. Its id. */
export async function registerSchema(url: string, subject: string, schema: NewSchema): Promise<number> {
  const response = await fetch(`${url}/subjects/${subject}/versions`, {
    method: 'POST',
    headers: { 'content-type': CONTENT_TYPE },
    body: JSON.stringify(schema),
  });
  if (!response.ok) throw new Error(`registering ${subject}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: number }).id;
}

/** The id of a subject's newest schema in Apicurio's own API. */
export async function globalId(url: string, subject: string): Promise<number> {
  const meta = await fetch(`${new URL(url).origin}/apis/registry/v2/groups/default/artifacts/${subject}/meta`);
  return ((await meta.json()) as { globalId: number }).globalId;
}

/** A record in Confluent's wire format. */
export function framed(id: number, bytes: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(id, 1);
  return Buffer.concat([header, bytes]);
}
