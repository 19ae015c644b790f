/** The definition of @redis, which crier adds to every graph's schema. */
export const REDIS_DIRECTIVE = /* GraphQL */ `
  "Feeds a Subscription field from a Redis channel, on which any program may publish JSON."
  directive @redis(
    "Name of the channel. {name} stands for the value of an argument."
    channel: String!
    "Arguments that are meant to choose no events."
    unused: [String!]
    payload: String
    shared: Boolean = true
  ) on FIELD_DEFINITION
`;
