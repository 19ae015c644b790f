import { defineGraph } from 'crier';

export const graph = defineGraph({
  schema: `
    type Query { hello(name: String!): String }
    type Subscription { ticked: Tick @kafka(topic: "ticks") }
    type Tick { n: Int, doubled: Int }
  `,
  resolvers: {
    Query: { hello: (_, { name }) => `Hello, ${name}` },
    Tick: { doubled: ({ n }) => n * 2 },
  },
});
