import { createServer } from 'node:http';
import { buildSchema } from 'graphql';
import type { GraphQLObjectType } from 'graphql';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import { useServer } from 'graphql-ws/use/ws';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import { auctionChannel, plainSdl } from '../fanout/auction.ts';

/** graphql-ws, graphql-js and graphql-redis-subscriptions, combined as their documentation shows. */
const url = process.env['REDIS_URL']!;
const pubsub = new RedisPubSub({ publisher: new Redis(url), subscriber: new Redis(url) });
const schema = buildSchema(plainSdl());

const { auction_updated } = (schema.getSubscriptionType() as GraphQLObjectType).getFields();
auction_updated!.subscribe = (_: unknown, { auction_id }: { auction_id: number }) =>
  pubsub.asyncIterator(auctionChannel(process.env['CHANNEL_PREFIX']!, auction_id));
auction_updated!.resolve = ({ auction }: { auction: unknown }) => auction;

const httpServer = createServer();
useServer({ schema }, new WebSocketServer({ server: httpServer, path: '/graphql' }));
httpServer.listen(Number(process.env['PORT']), '127.0.0.1');
