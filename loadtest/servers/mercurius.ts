import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';
import { auctionChannel, plainSdl } from '../fanout/auction.ts';

/** The parts of Fastify and Mercurius that are used here. They are installed in loadtest/node_modules. */
interface PubSub {
  subscribe(topic: string): Promise<unknown>;
  publish(event: { topic: string; payload: unknown }): void;
}
interface App {
  register(plugin: unknown, options: object): void;
  listen(options: { port: number; host: string }): Promise<string>;
  readonly graphql: { readonly pubsub: PubSub };
}

const load = createRequire(resolve('loadtest/package.json'));
const fastify = load('fastify') as () => App;
const mercurius = load('mercurius') as unknown;

/** Mercurius with its JIT compiler, and its own pubsub fed by one Redis subscription per channel. */
const app = fastify();
const subscriber = new Redis(process.env['REDIS_URL']!);
const channels = new Set<string>();

subscriber.on('message', (topic, message) =>
  app.graphql.pubsub.publish({ topic, payload: JSON.parse(message) as unknown }),
);

const resolvers = {
  Subscription: {
    auction_updated: {
      subscribe: async (_: unknown, { auction_id }: { auction_id: number }, { pubsub }: { pubsub: PubSub }) => {
        const channel = auctionChannel(process.env['CHANNEL_PREFIX']!, auction_id);
        if (!channels.has(channel)) {
          channels.add(channel);
          await subscriber.subscribe(channel);
        }
        return pubsub.subscribe(channel);
      },
      resolve: ({ auction }: { auction: unknown }) => auction,
    },
  },
};

app.register(mercurius, { schema: plainSdl(), resolvers, subscription: true, jit: 1 });
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
