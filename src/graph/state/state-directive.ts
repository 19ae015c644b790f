/** The definition of @state, which crier adds to every graph's schema. */
export const STATE_DIRECTIVE = /* GraphQL */ `
  "Reads the state of a Subscription field: the last payload of the channel that the arguments choose."
  directive @state("Name of a Subscription field whose @kafka has a state." of: String!) on FIELD_DEFINITION
`;
