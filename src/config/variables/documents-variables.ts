import { bool, count, oneOf, optionalBool, text } from '../variable.ts';

export const documentsVariables = {
  TRUSTED_DOCUMENTS: text(
    '',
    'a path',
    'JSON file with the documents that clients may run, by id: a manifest of GraphQL Code Generator, Relay or Apollo. Read again when it changes.',
  ),
  TRUSTED_DOCUMENTS_MODE: oneOf(
    ['', 'required', 'allowed'],
    '',
    'required or allowed',
    'Whether only the documents of `TRUSTED_DOCUMENTS` are run (`required`), or others, too (`allowed`); not set: `required`.',
  ),
  APQ: bool(
    'false',
    'Whether clients may request a document that is cached by the SHA-256 of its text (automatic persisted queries).',
  ),
  MAX_QUERY_TOKENS: count(1, '1000', 'tokens', 'Tokens in a document.'),
  MAX_QUERY_DEPTH: count(1, '8', 'levels', 'Nesting of fields (introspection has a rule of its own).'),
  INTROSPECTION: optionalBool('Whether clients may read the schema; not set: yes, but not with `NODE_ENV=production`.'),
  GRAPHIQL: optionalBool(
    'Whether `GET /` shows GraphiQL, and in development `GET /live` the dashboard; not set: yes, but not with `NODE_ENV=production`.',
  ),
  DOCUMENT_CACHE_ENTRIES: count(
    0,
    '1000',
    'documents',
    'Valid documents kept; 0: none, every request parses and validates its own.',
    1_000_000,
  ),
  AST_LOCATIONS: bool(
    'false',
    'Whether parsed documents keep the locations of their nodes; the errors of executions then name line and column.',
  ),
  JIT_AFTER_USES: count(
    0,
    '3',
    'executions',
    'Executions after which an operation is compiled; 1: with its first use, before it is executed; 0: never, and no `PROJECTION` either.',
  ),
  PROJECTION: bool(
    'true',
    "Whether results are copied from the payload's text; `false` executes every event whole, to find faults.",
  ),
};
