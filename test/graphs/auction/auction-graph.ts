import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { buildSchema, isObjectType } from 'graphql';
import type { GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from 'graphql';
import lodash from 'lodash';
import { pino } from 'pino';
import { Backends } from '../../../src/graph/context/backends.ts';
import type { BackendPort, BackendRequest } from '../../../src/graph/context/execution-backends.ts';
import { SampleBackends } from '../../../src/graph/embedded/sample-backends.ts';
import type { SampleRecord } from '../../../src/graph/graph-parts.ts';
import * as definition from '../../../examples/auction/context.ts';
import * as resolvers from '../../../examples/auction/resolvers.ts';
import { respond } from '../../../examples/auction/samples.ts';

const DIRECTIVE = `
  directive @kafka(topic: String!, match: [KafkaMatch!], payload: String) on FIELD_DEFINITION
  input KafkaMatch { arg: String!, path: String! }
`;

type Resolvers = Readonly<Record<string, Readonly<Record<string, GraphQLFieldResolver<unknown, unknown>>>>>;

/** The auction graph's schema with its resolvers, without what src/graph adds. */
export async function auctionSchema(): Promise<GraphQLSchema> {
  const schema = buildSchema(DIRECTIVE + (await readFile('examples/auction/schema.graphql', 'utf8')));
  for (const [typeName, fields] of Object.entries(resolvers as unknown as Resolvers)) {
    for (const [name, resolve] of Object.entries(fields)) {
      (schema.getType(typeName) as GraphQLObjectType).getFields()[name]!.resolve = resolve;
    }
  }
  return schema;
}

/** The sample backends over loopback, and what was sent to them. */
export async function auctionBackends(t: TestContext) {
  const server = new SampleBackends({ log: pino({ enabled: false }) });
  server.respond = respond;
  const backends = new Backends({
    backends: await server.urlsOf(definition.backends),
    maxSockets: () => 10,
    timeoutMs: 5000,
  });
  t.after(async () => {
    await backends.close();
    await server.close();
  });
  const sent: { name: string; request: BackendRequest }[] = [];
  const port: BackendPort = {
    send: (name, request) => {
      sent.push({ name, request });
      return backends.send(name, request);
    },
  };
  return { definition, port, sent };
}

/** The payload that the worker makes of a record's value. */
export function payloadOf(record: SampleRecord): unknown {
  return snakeCased(JSON.parse(JSON.stringify(record.value)));
}

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!lodash.isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, inner]) => [lodash.snakeCase(key), snakeCased(inner)]),
  );
}

/** Every field of a type, followed through object types without coming back to a type on the way. */
export function everyField(type: GraphQLObjectType, path: readonly string[] = []): string {
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const inner = innermost(field.type);
    if (!isObjectType(inner)) return field.name;
    return path.includes(inner.name) ? [] : `${field.name} ${everyField(inner, [...path, type.name, inner.name])}`;
  });
  return `{ ${fields.join(' ')} }`;
}

export function innermost(type: unknown): unknown {
  return typeof type === 'object' && type !== null && 'ofType' in type ? innermost(type.ofType) : type;
}
