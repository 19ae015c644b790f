import { defineGraph } from 'crier';

export const graph = defineGraph({
  schema: `
    "Queries, as in any GraphQL server."
    type Query {
      "Greets somebody."
      hello(name: String!): String
    }
    "What comes from Kafka."
    type Subscription {
      "Each record of the topic."
      ticked: Tick @kafka(topic: "ticks")
    }
    "A record of the topic."
    type Tick {
      "As it is in the record."
      n: Int
      "Twice as much, by a resolver."
      doubled: Int
    }
  `,
  resolvers: {
    Query: { hello: (_, { name }) => `Hello, ${name}` },
    Tick: { doubled: ({ n }) => n * 2 },
  },
});
