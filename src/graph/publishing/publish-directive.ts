/** The definition of @kafkaPublish, which crier adds to every graph's schema. */
export const PUBLISH_DIRECTIVE = /* GraphQL */ `
  "Publishes the input of a mutation as a record of a Kafka topic."
  directive @kafkaPublish(
    topic: String!
    "Path in the arguments to the record's key."
    key: String
    "How names of arguments become keys of the record."
    keys: KafkaPublishKeys = KEEP
    "Claims of the connection that become headers: claim-sub."
    claims: [String!]
  ) on FIELD_DEFINITION

  enum KafkaPublishKeys {
    KEEP
    "camelCase"
    CAMEL
    "snake_case"
    SNAKE
  }
`;
