import { createServer } from 'node:http';
import { buildSchema, parse } from 'graphql';
import type { ExecutionArgs } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

/**
 * graphql-ws's `useServer` with subscriptions that wait for ever, to measure what a waiting operation keeps. With `LEAN` all operations
 * have one document, and an iterator of one object takes the place of graphql-js: what is left is useServer's own.
 */
const schema = buildSchema(
  'type Query { ping: String } type Subscription { catalogue_updated: Auction } type Auction { auction_id: Int! }',
);
const pending = new Promise<never>(() => undefined);
const end = Promise.resolve({ value: undefined, done: true } as const);
const createIterator = (): AsyncGenerator<never, void, void> => {
  const iterator: AsyncGenerator<never, void, void> = {
    // A promise of its own for each wait, as every source of events has.
    next: () => pending.then(),
    return: () => end,
    throw: () => end,
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
};

const document = parse('subscription { catalogue_updated { auction_id } }', { noLocation: true });
const lean = {
  onSubscribe: (): ExecutionArgs => ({ schema, document }),
  subscribe: createIterator,
};
schema.getSubscriptionType()!.getFields()['catalogue_updated']!.subscribe = createIterator;

const httpServer = createServer();
const server = new WebSocketServer({ server: httpServer, path: '/graphql', perMessageDeflate: false });
useServer({ schema, ...(process.env['LEAN'] && lean) }, server);
httpServer.listen(Number(process.env['PORT']), '127.0.0.1');
