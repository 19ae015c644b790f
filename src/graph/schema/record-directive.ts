/** The definition of @record, which crier adds to every graph's schema. */
export const RECORD_DIRECTIVE = /* GraphQL */ `
  "Fills a field from the Kafka record of its event."
  directive @record(field: KafkaRecordField!, "Of the header." name: String) on FIELD_DEFINITION

  enum KafkaRecordField {
    "ISO 8601 text in a String or a custom scalar, milliseconds since 1970 in a Float."
    TIMESTAMP
    TOPIC
    PARTITION
    OFFSET
    "The key as text; null if there is none, or if it is no text."
    KEY
    "The header of that name, likewise."
    HEADER
  }
`;
