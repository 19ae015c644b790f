const NAMED_ELEMENTS =
  'OBJECT | INTERFACE | FIELD_DEFINITION | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION';

/** By name: the definition of each directive of federation that crier has, after its name. `FieldSet` stands for the scalar's local name. */
export const FEDERATION_DIRECTIVES: Readonly<Record<string, string>> = {
  key: '(fields: FieldSet!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE',
  shareable: ' repeatable on OBJECT | FIELD_DEFINITION',
  external: '(reason: String) on OBJECT | FIELD_DEFINITION',
  requires: '(fields: FieldSet!) on FIELD_DEFINITION',
  provides: '(fields: FieldSet!) on FIELD_DEFINITION',
  override: '(from: String!, label: String) on FIELD_DEFINITION',
  inaccessible: ` on ${NAMED_ELEMENTS}`,
  tag: `(name: String!) repeatable on ${NAMED_ELEMENTS} | SCHEMA`,
  interfaceObject: ' on OBJECT',
  composeDirective: '(name: String!) repeatable on SCHEMA',
  extends: ' on OBJECT | INTERFACE',
};

/** Directives of federation that crier has, and enforces, in every schema. */
export const SHARED_DIRECTIVES: ReadonlySet<string> = new Set(['authenticated', 'requiresScopes']);

/** The definition of @link, and of the scalar that `_entities` takes. */
export const LINK_DEFINITIONS = /* GraphQL */ `
  directive @link(url: String!, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
  scalar link__Import
  enum link__Purpose {
    SECURITY
    EXECUTION
  }
  scalar _Any
`;
