/** The definitions of @authenticated and @requiresScopes, which crier adds to every graph's schema. */
export const ACCESS_DIRECTIVES = /* GraphQL */ `
  "Only for connections with claims."
  directive @authenticated on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM

  "Only for connections that have all scopes of at least one of the inner lists."
  directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
`;
