import type { ExecutionContext } from '../../../src/graph/context/context.ts';

export const Auction = {
  tenant: (_: unknown, __: unknown, { connection }: ExecutionContext) => connection.claims['tenant'],
  viewer: (_: unknown, __: unknown, { connection }: ExecutionContext) => connection.claims['user'],
};
