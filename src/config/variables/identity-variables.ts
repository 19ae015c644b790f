import { list, oneOf, secret, text } from '../variable.ts';

export const identityVariables = {
  AUTH: oneOf(
    ['', 'required', 'optional', 'none'],
    '',
    'required, optional or none',
    'Whether a connection needs a token: `required`, `optional` or `none`; not set: `required` with a key of tokens, else `none`.',
  ),
  JWT_JWKS_URL: list(
    '',
    'http:// or https:// URLs without user and password, separated by commas',
    'Key sets (JWKS) of the identity providers; several need as many `JWT_ISSUER`, in the same order.',
  ),
  JWT_SECRET: secret(
    text('', 'at least 32 bytes', 'Key of HMAC signatures, of at least 32 bytes; HS384: 48, HS512: 64.'),
  ),
  JWT_PUBLIC_KEY: secret(
    text('', 'a public key or certificate in PEM', 'Key, or certificate, that verifies signatures.'),
  ),
  JWT_ISSUER: list('', 'issuers, separated by commas', 'Accepted values of `iss`; not set: any.'),
  JWT_AUDIENCE: list(
    '',
    'audiences, separated by commas',
    'Values of `aud`, of which a token needs one; not set: any.',
  ),
  JWT_REQUIRE: list(
    '',
    'claims with their values, such as client_id:app1|app2,token_use:access; with = where a name or value has a colon',
    'Claims that a token must have, each with its value: `client_id:app1,token_use:access`; `client_id:app1|app2` accepts either; `=` stands in place of `:` where a name or value has a colon.',
  ),
  JWT_ALGORITHMS: list(
    '',
    'algorithms of JWS (RFC 7518), separated by commas',
    'Accepted algorithms; not set: `HS256` with `JWT_SECRET`, else all that are asymmetric.',
  ),
  JWT_LOCATIONS: list(
    '',
    'cookie:<name> once, subprotocol, or both, separated by commas',
    'Where a token may be, too: `cookie:<name>`, with an allowed Origin only; `subprotocol`: `bearer.<token>` among those of a WebSocket.',
  ),
};
