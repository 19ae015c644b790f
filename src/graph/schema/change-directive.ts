/** The definition of @change, which crier adds to every graph's schema. */
export const CHANGE_DIRECTIVE = /* GraphQL */ `
  "Fills a field from what happened to the row of its event. Its topic has an envelope."
  directive @change(field: KafkaChangeField!) on FIELD_DEFINITION

  enum KafkaChangeField {
    "CREATE, UPDATE, DELETE, or READ of a row that was read from a table; in a String, an ID, or an enum that has these values."
    OP
    "The whole row before, in an object type; null if it is not known."
    BEFORE
    "When the database changed the row: ISO 8601 text in a String or a custom scalar, milliseconds since 1970 in a Float."
    SOURCE_TIMESTAMP
    "Id of the transaction, as the source writes it."
    TRANSACTION
    "True: the row was read from a table, and did not change."
    SNAPSHOT
  }
`;
