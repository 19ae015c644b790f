import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { buildSchema } from 'graphql';
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import { useServer } from 'graphql-ws/use/ws';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import { plainSdl } from '../../fanout/auction.ts';
import { serveRecordCounter } from '../../story/pods/record-counter.ts';
import { startConsumer } from './consumer.ts';
import { createContext } from './context.ts';
import { documentOptions } from './documents.ts';
import { partsFromEnvironment } from './parts.ts';
import type { Parts } from './parts.ts';
import { snakeCaseVersions } from './snake-case-versions.ts';
import type { Convert } from './snake-case-versions.ts';

/** crier's built-in graph. No resolver of it is here: the flood's subscription selects fields of the record only. */
const REFERENCE_GRAPH = 'examples/auction';

/**
 * The talk's pod, built from the parts of one rung: a consumer that publishes to Redis through graphql-redis-subscriptions, and a
 * stock graphql-ws server that subscribes through it. It reads the same environment variables as crier.
 */
async function main(environment: NodeJS.ProcessEnv): Promise<void> {
  const parts = partsFromEnvironment(environment);
  const convert = snakeCaseVersions[parts.snakeCase];
  const prefix = environment['CHANNEL_PREFIX'] ?? 'crier:';
  const channelOf = (auctionId: number) => `${prefix}auction-updated:${auctionId}`;
  const [publisher, subscriber] = [new Redis(environment['REDIS_URL']!), new Redis(environment['REDIS_URL']!)];
  const pubsub = new RedisPubSub({ publisher, subscriber });

  const schema = createSchema(pubsub, channelOf, parts, convert);
  const leaveGroup = await startConsumer({
    brokers: environment['KAFKA_BROKERS']!.split(','),
    groupId: environment['KAFKA_GROUP_ID'] ?? 'crier',
    convert: parts.convertsAt === 'consumption' ? convert : undefined,
    publish: (auctionId, payload) => pubsub.publish(channelOf(auctionId), payload),
    onRecord: serveRecordCounter(),
  });
  const httpServer = serveGraphql(schema, parts);
  httpServer.listen(Number(environment['PORT']), '127.0.0.1');
  process.once('SIGTERM', () => void leaveGroup().then(() => process.exit(0)));
}

function createSchema(
  pubsub: RedisPubSub,
  channelOf: (auctionId: number) => string,
  { convertsAt }: Parts,
  convert: Convert,
): GraphQLSchema {
  const schema = buildSchema(plainSdl(REFERENCE_GRAPH));
  const { auction_updated } = (schema.getSubscriptionType() as GraphQLObjectType).getFields();
  auction_updated!.subscribe = (_: unknown, { auction_id }: { auction_id: number }) =>
    pubsub.asyncIterator(channelOf(auction_id));
  auction_updated!.resolve =
    convertsAt === 'delivery'
      ? (record: Record<string, unknown>) => convert(record)['auction']
      : (record: Record<string, unknown>) => record['auction'];
  return schema;
}

function serveGraphql(schema: GraphQLSchema, parts: Parts): Server {
  const server = createServer();
  useServer(
    {
      schema,
      context: ({ connectionParams }) =>
        createContext(parts, connectionParams ?? {}) as unknown as Record<string, unknown>,
      ...documentOptions(parts.documents, schema),
    },
    new WebSocketServer({ server, path: '/graphql' }),
  );
  return server;
}

main(process.env).catch((error: unknown) => {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exit(1);
});
