import { isServiceUrl } from './addresses/service-url.ts';
import { variables } from './variables.ts';
import { refusal } from './setting-refusal.ts';
import type { Settings } from './settings.ts';

/** How the schema registry is asked. */
export type SchemaRegistrySettings = Pick<
  Settings,
  | 'SCHEMA_REGISTRY_URL'
  | 'SCHEMA_REGISTRY_TOKEN_PROVIDER'
  | 'SCHEMA_REGISTRY_HEADERS'
  | 'SCHEMA_REGISTRY_TLS_CA_FILE'
  | 'SCHEMA_REGISTRY_TLS_CERT_FILE'
  | 'SCHEMA_REGISTRY_TLS_KEY_FILE'
  | 'names'
>;

/** A name of HTTP (RFC 9110 section 5.6.2), and a value without control characters. */
const HEADER = /^[\w!#$%&'*+.^`|~-]+=[^\0-\x1f\x7f]*$/;
/** Headers that crier sends itself. */
const OWN_HEADERS = /^(authorization|accept|host|connection|content-length|transfer-encoding)=/i;

/** A line for each URL of the schema registry that cannot be one, and for credentials that are given twice. */
export function schemaRegistryProblems(settings: SchemaRegistrySettings): string[] {
  const { names } = settings;
  const { SCHEMA_REGISTRY_URL: urls, SCHEMA_REGISTRY_TOKEN_PROVIDER: provider } = settings;
  const unusable = urls.filter((url) => !isServiceUrl(url));
  const problems = unusable.map((url) =>
    refusal(names.SCHEMA_REGISTRY_URL, url, variables.SCHEMA_REGISTRY_URL.expects, true),
  );
  const given = GIVEN_WITH_URL.filter((name) => settings[name].length > 0);
  if (urls.length === 0)
    problems.push(...given.map((name) => `${names.SCHEMA_REGISTRY_URL}: expected with ${names[name]}, got none`));
  if (unusable.length > 0) return problems;
  if (provider !== '' && urls.some(hasLogin))
    problems.push(
      `${names.SCHEMA_REGISTRY_TOKEN_PROVIDER}: expected none, because ${names.SCHEMA_REGISTRY_URL} has a user or a password, got one`,
    );
  return [...problems, ...tlsProblems(settings), ...headerProblems(settings)];
}

function hasLogin(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

/** Settings that say how the registry is asked. */
const GIVEN_WITH_URL = [
  'SCHEMA_REGISTRY_TOKEN_PROVIDER',
  'SCHEMA_REGISTRY_HEADERS',
  'SCHEMA_REGISTRY_TLS_CA_FILE',
  'SCHEMA_REGISTRY_TLS_CERT_FILE',
] as const;

function tlsProblems(settings: SchemaRegistrySettings): string[] {
  const { SCHEMA_REGISTRY_TLS_CERT_FILE: certificate, SCHEMA_REGISTRY_TLS_KEY_FILE: key, names } = settings;
  if ((certificate === '') === (key === '')) return [];
  return [`${names.SCHEMA_REGISTRY_TLS_CERT_FILE} and ${names.SCHEMA_REGISTRY_TLS_KEY_FILE}: expected both or none`];
}

/** Without the values, which may be secret. */
function headerProblems({ SCHEMA_REGISTRY_HEADERS: headers, names }: SchemaRegistrySettings): string[] {
  if (headers.some((header) => !HEADER.test(header)))
    return [refusal(names.SCHEMA_REGISTRY_HEADERS, '', variables.SCHEMA_REGISTRY_HEADERS.expects, true)];
  const own = headers.find((header) => OWN_HEADERS.test(header))?.split('=')[0];
  if (own === undefined) return [];
  const fix = `a user in ${names.SCHEMA_REGISTRY_URL}, or ${names.SCHEMA_REGISTRY_TOKEN_PROVIDER}, for the authorization`;
  return [`${names.SCHEMA_REGISTRY_HEADERS}: expected no ${own}, which crier sends; set ${fix}`];
}

/** True for a worker that reads Kafka without a schema registry of the settings. */
export function lacksSchemaRegistry({
  ROLE: role,
  KAFKA_BROKERS: brokers,
  SCHEMA_REGISTRY_URL: urls,
}: Pick<Settings, 'ROLE' | 'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL'>): boolean {
  return role !== 'gateway' && brokers.length > 0 && urls.length === 0;
}
