import { z } from 'zod';
import { ConfigError } from './errors.ts';

const text = z.string();
const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max);
/** In ms. setTimeout takes what has more than 31 bits for 1 ms, so no wait is longer than a day. */
const MAX_WAIT_MS = 86_400_000;
const wait = (min: number) => whole(min, MAX_WAIT_MS);
/** undefined: not set. */
const fraction = z
  .string()
  .regex(/^(|\d+(\.\d+)?|\.\d+)$/)
  .transform((value) => (value === '' ? undefined : Number(value)))
  .refine((value) => value === undefined || value <= 1);
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

interface Variable<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** As it would stand in the environment; '' means not set. */
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
  /** What a refused value should have been. */
  readonly expects: string;
}

const variable = <Schema extends z.ZodType>(
  schema: Schema,
  fallback: string,
  unit: string,
  expects: string,
  meaning: string,
): Variable<Schema> => ({ schema, default: fallback, unit, expects, meaning });

const MS = `a whole number of milliseconds, at most ${MAX_WAIT_MS}`;
const COUNT = 'a whole number';
const BYTES = 'a whole number of bytes';
const BOOL = '"true" or "false"';

/** Every setting of crier: the environment is read here and nowhere else. A test checks docs/configuration.md against it. */
export const variables = {
  ROLE: variable(
    z.enum(['all', 'worker', 'gateway']),
    'all',
    '',
    '"all", "worker" or "gateway"',
    'Which half of the path this pod runs.',
  ),
  HOST: variable(text, '0.0.0.0', '', 'an address of this machine', 'Address that both ports listen on.'),
  PORT: variable(whole(0, 65535), '4000', '', 'a port, 0 to 65535', 'WebSocket and HTTP port; 0 takes a free one.'),
  ADMIN_PORT: variable(
    whole(0, 65535),
    '4001',
    '',
    'a port, 0 to 65535',
    'Port of `/healthz`, `/readyz` and `/metrics`.',
  ),
  GRAPH: variable(
    text,
    '',
    '',
    'a folder with a schema.graphql',
    'The graph folder; not set: the built-in auction graph.',
  ),
  LOG_LEVEL: variable(
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'info',
    '',
    'trace, debug, info, warn, error, fatal or silent',
    'Least severe level that is logged.',
  ),
  SHUTDOWN_TIMEOUT_MS: variable(wait(100), '10000', 'ms', MS, 'After SIGTERM, the longest time until exit.'),

  KAFKA_BROKERS: variable(
    list,
    '',
    '',
    'host:port, separated by commas',
    'Kafka bootstrap servers; not set: embedded.',
  ),
  KAFKA_GROUP_ID: variable(text.min(1), 'crier', '', 'a consumer group id', 'Consumer group that all workers share.'),
  KAFKA_TLS: variable(flag, 'false', '', BOOL, 'Whether the brokers are spoken to over TLS.'),
  KAFKA_SASL_MECHANISM: variable(
    z.enum(['', 'plain', 'scram-sha-256', 'scram-sha-512']),
    '',
    '',
    'plain, scram-sha-256 or scram-sha-512',
    'SASL mechanism; not set: none.',
  ),
  KAFKA_SASL_USERNAME: variable(text, '', '', 'a user name', 'SASL user name.'),
  KAFKA_SASL_PASSWORD: variable(text, '', '', 'a password', 'SASL password.'),
  KAFKA_SESSION_TIMEOUT_MS: variable(
    wait(6000),
    '10000',
    'ms',
    `${MS}, at least 6000 (what brokers allow)`,
    "Silence after which a worker's partitions go to another.",
  ),
  KAFKA_FROM_BEGINNING: variable(
    flag,
    'false',
    '',
    BOOL,
    'Whether a new group starts at the oldest record instead of now.',
  ),
  KAFKA_DEAD_LETTER_TOPIC: variable(
    text.min(1),
    'crier-dead-letter',
    '',
    'a topic name',
    'Where records that cannot be decoded go.',
  ),
  DEAD_LETTER: variable(
    z.enum(['WAIT', 'DROP']),
    'WAIT',
    '',
    'WAIT or DROP',
    'What happens while the dead-letter topic is away: the partition waits, or records are dropped.',
  ),
  KAFKA_TOPIC_CHECK_INTERVAL_MS: variable(wait(100), '10000', 'ms', MS, 'How often missing topics are looked for.'),
  KAFKA_STALL_TIMEOUT_MS: variable(
    wait(1000),
    '30000',
    'ms',
    MS,
    'Lag without progress after which the consumer is rebuilt.',
  ),
  MAX_RECORD_BYTES: variable(whole(1), '1048576', 'bytes', BYTES, 'Larger records are poison.'),
  MAX_RECORD_DEPTH: variable(
    whole(1, 1000),
    '64',
    'levels',
    'a whole number, 1 to 1000',
    'Records nested deeper are poison.',
  ),
  KEY_REWRITER: variable(
    flag,
    'true',
    '',
    BOOL,
    "Whether keys are renamed in a record's text; `false` parses every record, to find faults.",
  ),

  MAX_INFLATED_BATCH_BYTES: variable(
    whole(131_072),
    '67108864',
    'bytes',
    'a whole number of bytes, at least 131072',
    'What a compressed batch may inflate to; a larger one is poison.',
  ),
  MAX_INFLIGHT_BYTES: variable(
    whole(131_072),
    '67108864',
    'bytes',
    'a whole number of bytes, at least 131072',
    'Records of all brokers that are decoded and not processed; the rest is fetched later.',
  ),

  REDIS_URL: variable(
    list,
    '',
    '',
    'redis:// or rediss:// URLs, separated by commas',
    'Redis servers, channels spread by hash; not set: embedded.',
  ),
  CHANNEL_PREFIX: variable(text, 'crier:', '', 'any text', "First part of every channel's name."),

  CURSOR_SECRET: variable(
    text,
    '',
    '',
    'any text',
    'Signs cursors, the same on every pod; not set: a random one that the pods share through Redis.',
  ),

  ALLOWED_ORIGINS: variable(
    list,
    '',
    '',
    'origins such as https://app.example.com, or *',
    "Browser origins beside the server's own; `*` allows all.",
  ),
  INIT_TIMEOUT_MS: variable(wait(1), '5000', 'ms', MS, 'Longest wait for `connection_init`.'),
  AUTHENTICATION_TIMEOUT_MS: variable(wait(1), '5000', 'ms', MS, "Longest wait for the graph's `authenticate`."),
  PING_INTERVAL_MS: variable(
    wait(0),
    '12000',
    'ms',
    MS,
    'Pause between WebSocket pings; a silent peer is ended within two. 0: none.',
  ),
  MAX_MESSAGE_BYTES: variable(
    whole(1024),
    '65536',
    'bytes',
    'a whole number of bytes, at least 1024',
    'Largest message from a client.',
  ),
  MAX_MESSAGES_PER_SECOND: variable(whole(1), '20', 'messages/s', COUNT, 'Sustained messages per connection.'),
  MAX_MESSAGE_BURST: variable(whole(1), '150', 'messages', COUNT, 'Messages a connection may send at once.'),
  MAX_OPERATIONS_PER_CONNECTION: variable(whole(1), '100', 'operations', COUNT, 'Live operations of one connection.'),
  MAX_CONNECTION_BYTES: variable(
    whole(65_536),
    '1048576',
    'bytes',
    'a whole number of bytes, at least 65536',
    'Memory of the documents, variables and channel names that live operations of one connection keep.',
  ),
  MAX_OPERATION_ID_BYTES: variable(whole(1), '128', 'bytes', BYTES, 'Longest id of an operation.'),
  MAX_QUEUE_BYTES: variable(
    whole(1024),
    '1048576',
    'bytes',
    'a whole number of bytes, at least 1024',
    'Bytes waiting for one connection, or 4 times its largest message; past it it is closed with 1013.',
  ),
  MAX_POD_QUEUE_BYTES: variable(
    whole(1024),
    '268435456',
    'bytes',
    'a whole number of bytes, at least 1024',
    'Bytes waiting for all connections; past it those with the largest queues are closed with 1013.',
  ),
  MAX_PENDING_EVENTS: variable(
    whole(1),
    '1000',
    'events',
    COUNT,
    'Events of one operation whose executions are not done; past it the connection is closed with 1013.',
  ),

  MAX_QUERY_LENGTH: variable(whole(1), '15000', 'characters', COUNT, 'Longest query text.'),
  MAX_QUERY_TOKENS: variable(whole(1), '1000', 'tokens', COUNT, 'Tokens in a document.'),
  MAX_QUERY_DEPTH: variable(whole(1), '8', 'levels', COUNT, 'Nesting of fields (introspection has a rule of its own).'),
  MAX_QUERY_ALIASES: variable(whole(0), '15', 'aliases', COUNT, 'Aliases in a document.'),
  MAX_QUERY_DIRECTIVES: variable(whole(0), '50', 'directives', COUNT, 'Directives in a document.'),
  INTROSPECTION: variable(flag, 'true', '', BOOL, 'Whether clients may read the schema.'),
  GRAPHIQL: variable(flag, 'true', '', BOOL, 'Whether `GET /` shows GraphiQL.'),
  DOCUMENT_CACHE_ENTRIES: variable(
    whole(1, 1_000_000),
    '1000',
    'documents',
    'a whole number, 1 to 1000000',
    'Valid documents kept.',
  ),
  DOCUMENT_CACHE_BYTES: variable(whole(1024), '67108864', 'bytes', BYTES, 'Estimated memory of the documents kept.'),
  INVALID_DOCUMENT_CACHE_ENTRIES: variable(
    whole(1, 1_000_000),
    '100',
    'documents',
    'a whole number, 1 to 1000000',
    'Verdicts on invalid documents kept.',
  ),
  JIT_AFTER_USES: variable(
    whole(0),
    '3',
    'executions',
    COUNT,
    'Executions after which an operation is compiled; 0: never, and no `PROJECTION` either.',
  ),
  PROJECTION: variable(
    flag,
    'true',
    '',
    BOOL,
    "Whether results are copied from the payload's text; `false` executes every event whole, to find faults.",
  ),

  EXECUTION_TIMEOUT_MS: variable(
    wait(1),
    '10000',
    'ms',
    MS,
    'Longest execution of an event; past it its operation ends, and others go on without it.',
  ),
  SHARING_AUDIT: variable(
    fraction,
    '',
    'fraction',
    'a number from 0 to 1',
    'Part of the shared deliveries that are executed again and compared; not set: 0.1 embedded, else 0.',
  ),

  FLOW_TARGET_MS: variable(
    wait(0),
    '400',
    'ms',
    MS,
    'How long what is published may wait for its gateway; the rest stays in Kafka. 0: no flow control.',
  ),
  FLOW_TARGET_BYTES: variable(
    whole(65_536),
    '8388608',
    'bytes',
    'a whole number of bytes, at least 65536',
    'How much of a partition may be on its way to a gateway; the rest stays in Kafka.',
  ),
  FLOW_PATIENCE_MS: variable(
    wait(100),
    '5000',
    'ms',
    MS,
    'Time without progress after which a gateway is left behind by the others.',
  ),

  BACKEND_TIMEOUT_MS: variable(wait(1), '5000', 'ms', MS, "Longest wait for a backend's whole answer."),
  BACKEND_MAX_SOCKETS: variable(whole(1), '50', 'sockets', COUNT, 'Keep-alive sockets per backend.'),

  SAMPLE_INTERVAL_MS: variable(wait(1), '500', 'ms', MS, 'Embedded: pause between sample records.'),
} as const satisfies Record<string, Variable>;

type Variables = { readonly [Name in keyof typeof variables]: z.output<(typeof variables)[Name]['schema']> };

export interface BackendConfig {
  readonly url: string;
  /** Whether the caller's Authorization header goes to this backend. */
  readonly isAuthorizationForwarded: boolean;
}

export interface Config extends Omit<Variables, 'SHARING_AUDIT'> {
  readonly SHARING_AUDIT: number;
  /** By `backendVariable(name)`, from `BACKEND_<NAME>_URL` and `BACKEND_<NAME>_FORWARD_AUTHORIZATION`. */
  readonly backends: ReadonlyMap<string, BackendConfig>;
  /** Neither Kafka nor Redis: the whole path in one process, fed by the graph's samples. */
  readonly isEmbedded: boolean;
}

/** `consumerListingIntake` → `CONSUMER_LISTING_INTAKE`: how a backend is named in the environment. */
export function backendVariable(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();
}

/** A graph is developed in the embedded mode. */
const EMBEDDED_SHARING_AUDIT = 0.1;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The configuration that an environment describes. An empty variable counts as not set.
 * @throws ConfigError naming every variable that was refused, its value and what was expected.
 */
export function readConfig(environment: Environment): Config {
  const refused: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { schema, default: fallback, expects }] of Object.entries(variables)) {
    const raw = environment[name] || fallback;
    const result = schema.safeParse(raw);
    if (result.success) values[name] = result.data;
    else refused.push(refusal(name, raw, expects));
  }
  const backends = readBackends(environment, refused);
  if (refused.length === 0) refused.push(...contradictions(values as Variables));
  if (refused.length > 0) throw new ConfigError(refused.join('\n'));
  const config = values as Variables;
  const isEmbedded = config.KAFKA_BROKERS.length === 0 && config.REDIS_URL.length === 0;
  const SHARING_AUDIT = config.SHARING_AUDIT ?? (isEmbedded ? EMBEDDED_SHARING_AUDIT : 0);
  return { ...config, SHARING_AUDIT, backends, isEmbedded };
}

function refusal(name: string, value: string, expects: string): string {
  const isSecret = name.includes('PASSWORD') || name.includes('SECRET') || value.includes('@');
  return `${name}: expected ${expects}, got ${isSecret ? 'a value that may hold a password and is not shown' : JSON.stringify(value)}`;
}

function contradictions(config: Variables): string[] {
  const problems: string[] = [];
  const hasKafka = config.KAFKA_BROKERS.length > 0;
  const hasRedis = config.REDIS_URL.length > 0;
  if (hasKafka && !hasRedis && config.ROLE === 'worker') {
    problems.push(
      'REDIS_URL: expected redis:// URLs with ROLE=worker, got none: a worker and its gateways meet only at Redis',
    );
  }
  if (config.ROLE === 'worker' && !hasKafka)
    problems.push('KAFKA_BROKERS: expected brokers with ROLE=worker, got none');
  if (config.ROLE === 'gateway' && !hasRedis)
    problems.push('REDIS_URL: expected redis:// URLs with ROLE=gateway, got none');
  if (config.ROLE === 'all' && hasRedis && !hasKafka) {
    problems.push('KAFKA_BROKERS: expected brokers where REDIS_URL is set, got none (ROLE=gateway needs none)');
  }
  if (config.MAX_INFLATED_BATCH_BYTES > config.MAX_INFLIGHT_BYTES) {
    problems.push(
      `MAX_INFLATED_BATCH_BYTES: expected no more than MAX_INFLIGHT_BYTES (${config.MAX_INFLIGHT_BYTES}), got ${config.MAX_INFLATED_BATCH_BYTES}`,
    );
  }
  if (config.EXECUTION_TIMEOUT_MS < config.BACKEND_TIMEOUT_MS) {
    problems.push(
      `EXECUTION_TIMEOUT_MS: expected no less than BACKEND_TIMEOUT_MS (${config.BACKEND_TIMEOUT_MS}), got ${config.EXECUTION_TIMEOUT_MS}`,
    );
  }
  for (const url of config.REDIS_URL) {
    if (!/^rediss?:\/\/./.test(url)) problems.push(refusal('REDIS_URL', url, variables.REDIS_URL.expects));
  }
  for (const broker of config.KAFKA_BROKERS) {
    if (!/^[^\s:/]+:\d+$/.test(broker) && !/^\[[^\]]+\]:\d+$/.test(broker)) {
      problems.push(refusal('KAFKA_BROKERS', broker, variables.KAFKA_BROKERS.expects));
    }
  }
  if (config.KAFKA_SASL_MECHANISM !== '' && (config.KAFKA_SASL_USERNAME === '' || config.KAFKA_SASL_PASSWORD === '')) {
    problems.push(
      `KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD: expected with KAFKA_SASL_MECHANISM=${config.KAFKA_SASL_MECHANISM}`,
    );
  }
  return problems;
}

function readBackends(environment: Environment, refused: string[]): Map<string, BackendConfig> {
  const backends = new Map<string, BackendConfig>();
  for (const [variableName, url] of Object.entries(environment)) {
    const key = /^BACKEND_([A-Z0-9_]+)_URL$/.exec(variableName)?.[1];
    if (!key || !url) continue;
    if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      refused.push(refusal(variableName, url, 'an http:// or https:// URL'));
      continue;
    }
    const forward = environment[`BACKEND_${key}_FORWARD_AUTHORIZATION`] || 'false';
    if (!flag.safeParse(forward).success) refused.push(refusal(`BACKEND_${key}_FORWARD_AUTHORIZATION`, forward, BOOL));
    backends.set(key, { url, isAuthorizationForwarded: forward === 'true' });
  }
  return backends;
}
