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
};
