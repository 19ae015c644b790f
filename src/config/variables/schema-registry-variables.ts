import { PERCENT_ENCODED } from '../addresses/service-url.ts';
import { list, secret, text } from '../variable.ts';

const PEM_FILE = 'the path of a PEM file';

export const schemaRegistryVariables = {
  SCHEMA_REGISTRY_URL: secret(
    list(
      '',
      `http:// or https:// URLs, separated by commas, ${PERCENT_ENCODED}`,
      'Registry with the API of Confluent, such as `https://user:password@registry`; a comma separates several, of which the first that answers is asked; not set: records are JSON, of AWS Glue, or of a format of the graph.',
    ),
  ),
  SCHEMA_REGISTRY_TOKEN_PROVIDER: text(
    '',
    'the path of a module',
    'Module whose default export returns a bearer token of the registry: `{ value, expiresAt }`.',
  ),
  SCHEMA_REGISTRY_HEADERS: secret(
    list(
      '',
      'name=value, separated by commas',
      'Further headers of requests to the registry, such as `target-sr-cluster=lsrc-1`.',
    ),
  ),
  SCHEMA_REGISTRY_TLS_CA_FILE: text('', PEM_FILE, "PEM file of the registry's authorities; not set: those of Node."),
  SCHEMA_REGISTRY_TLS_CERT_FILE: text('', PEM_FILE, 'PEM file of the client certificate, with its chain.'),
  SCHEMA_REGISTRY_TLS_KEY_FILE: text('', PEM_FILE, "PEM file of the certificate's private key, without a passphrase."),
};
