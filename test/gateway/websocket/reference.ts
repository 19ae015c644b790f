import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSchema, isObjectType } from 'graphql';
import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { Settings, Target, TargetKind } from './target.ts';

export const CONFORMANCE_GRAPH = join(process.cwd(), 'test', 'gateway', 'websocket', 'fixtures', 'conformance');

type Authenticate = (request: { params: Readonly<Record<string, unknown>> }) => Promise<object | false>;
type Resolver = GraphQLFieldResolver<unknown, unknown>;
type Resolvers = Record<string, Record<string, Resolver | { subscribe?: Resolver; resolve?: Resolver }>>;

/** Compiled once, because it never changes. */
const graph = loadGraph();

/** From V8 14 (Node 26) on JSON.stringify does not recurse. */
const STRINGIFIES_ANY_DEPTH = Number.parseInt(process.versions.v8, 10) >= 14;

/** graphql-ws's own server on `ws`. It proves that the table describes the protocol, and that its rows can fail. */
export const reference: TargetKind = {
  name: 'graphql-ws',
  deviations: new Map([
    ['C-12', 'waits for its authoriser for ever'],
    ['C-14', 'closes with 4500 and the error text'],
    ['C-31', 'closes with 4500'],
    ['C-40', 'closes with 4500, as at any syntax error'],
    ['C-55', 'closes with 4500'],
    ['X-01', 'knows no Origin check'],
    ['X-03', 'answers 400'],
    ['X-08', 'selects none, so that the client fails without the reason'],
    ['X-10', 'echoes any payload'],
    ...(STRINGIFIES_ANY_DEPTH ? [] : [['X-14', 'closes with 4500: JSON.stringify throws'] as const]),
    ['X-30', 'the old handler deletes the new entry'],
    ['X-31', 'the old operation takes the place of the new one'],
    ['X-38', 'the old handler deletes the new entry'],
    ['X-34', 'sends the event that was in flight'],
    ['X-40', 'reads on after its close'],
    ['X-41', 'takes it for text'],
    ['X-50', 'has no limit'],
    ['X-51', 'has no limit'],
    ['X-52', 'has no limit'],
    ['X-53', 'closes with 4500: the reason is too long'],
    ['X-56', "has ws's default of 16,384"],
    ['X-57', 'has no limit'],
    ['X-59', 'has no limit'],
    ['X-60', 'has no limit'],
    ['X-62', 'has no limit'],
    ['X-63', 'closes with 1009'],
    ['X-64', 'has no limit'],
  ]),
  async start(settings: Settings): Promise<Target> {
    const { schema, authenticate } = await graph;
    const http = createServer();
    const sockets = new WebSocketServer({
      server: http,
      path: '/graphql',
      maxPayload: Number(settings['MAX_MESSAGE_BYTES'] ?? 65_536),
    });
    const { dispose } = useServer(
      {
        schema,
        connectionInitWaitTimeout: Number(settings['INIT_TIMEOUT_MS'] ?? 5000),
        onConnect: async ({ connectionParams: params = {} }) =>
          (await authenticate({ params })) !== false && { ack: 1 },
      },
      sockets,
      Number(settings['PING_INTERVAL_MS'] ?? 12_000),
    );
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    let closed: Promise<void> | undefined;
    const close = async () => {
      await dispose();
      await new Promise((resolve) => http.close(resolve));
    };
    return {
      url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/graphql`,
      close: () => (closed ??= close()),
    };
  },
};

async function loadGraph(): Promise<{ schema: GraphQLSchema; authenticate: Authenticate }> {
  const schema = buildSchema(await readFile(join(CONFORMANCE_GRAPH, 'schema.graphql'), 'utf8'));
  const resolvers = (await importGraphFile('resolvers.js')) as Resolvers;
  for (const [typeName, fields] of Object.entries(resolvers)) {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) throw new Error(`resolvers.js: ${typeName} is no type of schema.graphql`);
    for (const [name, resolver] of Object.entries(fields)) {
      const field = type.getFields()[name];
      if (!field) throw new Error(`resolvers.js: ${typeName}.${name} is no field of schema.graphql`);
      Object.assign(field, typeof resolver === 'function' ? { resolve: resolver } : resolver);
    }
  }
  const { authenticate } = (await importGraphFile('context.js')) as { authenticate: Authenticate };
  return { schema, authenticate };
}

/** Imports a file of the graph without crier's own loader. */
async function importGraphFile(name: string): Promise<Record<string, unknown>> {
  return (await import(pathToFileURL(join(CONFORMANCE_GRAPH, name)).href)) as Record<string, unknown>;
}
