import { variables } from './variables.ts';
import { refusal } from './setting-refusal.ts';
import type { Settings } from './settings.ts';

type SchemaRegistrySettings = Pick<
  Settings,
  'SCHEMA_REGISTRY_URL' | 'SCHEMA_REGISTRY_USER' | 'SCHEMA_REGISTRY_PASSWORD' | 'names'
>;

/** A line for each URL of the schema registry that cannot be one, and for credentials that are incomplete or given twice. */
export function schemaRegistryProblems(settings: SchemaRegistrySettings): string[] {
  const { names } = settings;
  const { SCHEMA_REGISTRY_URL: urls, SCHEMA_REGISTRY_USER: user, SCHEMA_REGISTRY_PASSWORD: password } = settings;
  const unusable = urls.filter((url) => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol));
  const problems = unusable.map((url) =>
    refusal(names.SCHEMA_REGISTRY_URL, url, variables.SCHEMA_REGISTRY_URL.expects, true),
  );
  if ((user === '') !== (password === ''))
    problems.push(`${names.SCHEMA_REGISTRY_USER} and ${names.SCHEMA_REGISTRY_PASSWORD}: expected both or none`);
  if (user !== '' && urls.length === 0)
    problems.push(`${names.SCHEMA_REGISTRY_URL}: expected with ${names.SCHEMA_REGISTRY_USER}, got none`);
  if (user !== '' && unusable.length === 0 && urls.some((url) => new URL(url).username !== ''))
    problems.push(
      `${names.SCHEMA_REGISTRY_USER}: expected none, because ${names.SCHEMA_REGISTRY_URL} has a user, got one`,
    );
  return problems;
}

/** True for a worker that reads Kafka without a schema registry. */
export function lacksSchemaRegistry({
  ROLE: role,
  KAFKA_BROKERS: brokers,
  SCHEMA_REGISTRY_URL: urls,
}: Pick<Settings, 'ROLE' | 'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL'>): boolean {
  return role !== 'gateway' && brokers.length > 0 && urls.length === 0;
}
