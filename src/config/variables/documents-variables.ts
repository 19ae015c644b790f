import { bool, count, oneOf, optionalBool, text } from '../variable.ts';

export const documentsVariables = {
  TRUSTED_DOCUMENTS: text(
    '',
    'a path',
    'Manifest of GraphQL Code Generator, Relay or Apollo with the documents that clients may run; read again when it changes.',
  ),
  TRUSTED_DOCUMENTS_MODE: oneOf(
    ['', 'required', 'allowed'],
    '',
    'required or allowed',
    '`required`: only documents of `TRUSTED_DOCUMENTS` run; `allowed`: others, too; not set: `required`.',
  ),
  APQ: bool('false', 'Whether clients may request cached documents by SHA-256 (automatic persisted queries).'),
  MAX_QUERY_TOKENS: count(1, '1000', 'tokens', 'Tokens in a document.'),
  MAX_QUERY_DEPTH: count(1, '8', 'levels', 'Nesting of fields; introspection has its own rule.'),
  INTROSPECTION: optionalBool('Whether clients may read the schema; not set: yes, unless `NODE_ENV=production`.'),
  GRAPHIQL: optionalBool(
    'Whether `GET /` shows GraphiQL, and in development `GET /live` the dashboard; not set: yes, unless `NODE_ENV=production`.',
  ),
};
