import { backendsVariables } from './variables/backends-variables.ts';
import { documentsVariables } from './variables/documents-variables.ts';
import { embeddedVariables } from './variables/embedded-variables.ts';
import { executionsVariables } from './variables/executions-variables.ts';
import { gatewayVariables } from './variables/gateway-variables.ts';
import { identityVariables } from './variables/identity-variables.ts';
import { kafkaVariables } from './variables/kafka-variables.ts';
import { podVariables } from './variables/pod-variables.ts';
import { redisVariables } from './variables/redis-variables.ts';
import { schemaRegistryVariables } from './variables/schema-registry-variables.ts';
import { techniquesVariables } from './variables/techniques-variables.ts';
import { tracingVariables } from './variables/tracing-variables.ts';
import type { Variable } from './variable.ts';

/** Every setting of crier, by the name of its environment variable. `npm run docs:configuration` writes docs/reference/configuration.md from it. */
export const variables = {
  ...podVariables,
  ...kafkaVariables,
  ...schemaRegistryVariables,
  ...redisVariables,
  ...identityVariables,
  ...gatewayVariables,
  ...documentsVariables,
  ...executionsVariables,
  ...techniquesVariables,
  ...backendsVariables,
  ...tracingVariables,
  ...embeddedVariables,
} as const satisfies Record<string, Variable>;

type Name = keyof typeof variables;

/** The settings that a deployment sets, whatever its size. */
export const deploymentSettings = [
  'ROLE',
  'GRAPH',
  'PORT',
  'ADMIN_TOKEN',
  'LOG_LEVEL',
  'KAFKA_BROKERS',
  'KAFKA_GROUP_ID',
  'KAFKA_TLS',
  'KAFKA_SASL_MECHANISM',
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
  'SCHEMA_REGISTRY_URL',
  'REDIS_URL',
  'CHANNEL_PREFIX',
  'JWT_JWKS_URL',
  'JWT_ISSUER',
  'JWT_AUDIENCE',
  'ALLOWED_ORIGINS',
  'TRUSTED_DOCUMENTS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
] as const satisfies readonly Name[];

/** The settings by what they are about. */
export const settingGroups: ReadonlyMap<string, readonly Name[]> = new Map(
  Object.entries({
    'The pod': podVariables,
    Kafka: { ...kafkaVariables, ...schemaRegistryVariables },
    Redis: redisVariables,
    'Identity of clients': identityVariables,
    'Connections and requests': gatewayVariables,
    Documents: documentsVariables,
    Executions: { ...executionsVariables, ...techniquesVariables, ...embeddedVariables },
    Backends: backendsVariables,
    Tracing: tracingVariables,
  }).map(([title, group]) => [title, Object.keys(group) as Name[]]),
);

/** Name of a setting that may change while the server runs. */
export type TunableName = {
  [N in Name]: (typeof variables)[N] extends { readonly isTunable: true } ? N : never;
}[Name];

export const tunableNames = (Object.keys(variables) as Name[]).filter(
  (name): name is TunableName => 'isTunable' in variables[name],
);
