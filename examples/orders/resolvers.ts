import { defineResolvers } from 'crier/graph';
import { GraphQLError } from 'graphql';

export const { Mutation } = defineResolvers({
  Mutation: {
    placeOrder: (_: unknown, { total }: { total: string }, { backends }) => {
      if (/^\d{1,8}\.\d\d$/.test(total)) return backends['shop']!.post('/orders', { total });
      throw new GraphQLError('A total is a decimal such as "12.50"', { extensions: { code: 'BAD_USER_INPUT' } });
    },
  },
});
