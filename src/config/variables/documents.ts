import { bool, bytes, count, oneOf, optionalBool, text } from '../variable.ts';

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
    'Whether only the documents of `TRUSTED_DOCUMENTS` are run, or others, too; not set: `required`.',
  ),
  APQ: bool(
    'false',
    'Whether clients may request a document that is cached by the SHA-256 of its text (automatic persisted queries).',
  ),
  MAX_QUERY_LENGTH: count(1, '15000', 'characters', 'Longest query text.'),
  MAX_QUERY_TOKENS: count(1, '1000', 'tokens', 'Tokens in a document.'),
  MAX_QUERY_DEPTH: count(1, '8', 'levels', 'Nesting of fields (introspection has a rule of its own).'),
  MAX_QUERY_ALIASES: count(0, '15', 'aliases', 'Aliases in a document.'),
  MAX_QUERY_DIRECTIVES: count(0, '50', 'directives', 'Directives in a document.'),
  MAX_VARIABLES_BYTES: bytes(1, '16384', 'Longest variables of a request, as JSON.'),
  MAX_VARIABLES_DEPTH: count(0, '16', 'levels', 'Nesting of objects and lists in the value of a variable.', 1000),
  MAX_VARIABLES_VALUES: count(
    0,
    '1000',
    'values',
    'Values in the variables of a request, with those in objects and lists.',
  ),
  MAX_CHANNEL_BYTES: bytes(
    256,
    '4096',
    'Longest name of the channel that a subscription reads, with its topic and the matched values.',
  ),
  MAX_OPERATION_CHANNELS: count(
    1,
    '100',
    'channels',
    'Channels that one subscription reads: one for each value of a list argument and each topic.',
    10_000,
  ),
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
  DOCUMENT_CACHE_BYTES: bytes(1024, '67108864', 'Estimated memory of the documents kept.'),
  INVALID_DOCUMENT_CACHE_ENTRIES: count(
    0,
    '100',
    'documents',
    'Verdicts on invalid documents kept; 0: none.',
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
