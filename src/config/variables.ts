import { backendsVariables } from './variables/backends.ts';
import { documentsVariables } from './variables/documents.ts';
import { embeddedVariables } from './variables/embedded.ts';
import { executionsVariables } from './variables/executions.ts';
import { flowVariables } from './variables/flow.ts';
import { gatewayVariables } from './variables/gateway.ts';
import { identityVariables } from './variables/identity.ts';
import { kafkaVariables } from './variables/kafka.ts';
import { podVariables } from './variables/pod.ts';
import { redisVariables } from './variables/redis.ts';
import { schemaRegistryVariables } from './variables/schema-registry.ts';
import { tracingVariables } from './variables/tracing.ts';
import type { Variable } from './variable.ts';

/** Every setting of crier, by the name of its environment variable. `npm run docs:configuration` writes docs/configuration.md from it. */
export const variables = {
  ...podVariables,
  ...kafkaVariables,
  ...schemaRegistryVariables,
  ...redisVariables,
  ...identityVariables,
  ...gatewayVariables,
  ...documentsVariables,
  ...executionsVariables,
  ...flowVariables,
  ...backendsVariables,
  ...tracingVariables,
  ...embeddedVariables,
} as const satisfies Record<string, Variable>;

/** Settings that may change while the server runs. */
export const tunableNames = [
  'LOG_LEVEL',
  'MAX_CONNECTIONS',
  'MAX_HANDSHAKES_PER_SECOND',
  'MAX_HEAP_PERCENT',
  'MAX_OPERATIONS_PER_CONNECTION',
  'MAX_QUEUE_BYTES',
  'MAX_POD_QUEUE_BYTES',
  'MAX_EXECUTIONS',
  'SHARING_AUDIT',
  'BACKEND_MAX_SOCKETS',
  'OTEL_TRACES_SAMPLER_ARG',
] as const satisfies readonly (keyof typeof variables)[];
