import type { z } from 'zod';
import { ConfigError } from './errors.ts';
import { BOOL, flag } from './variable.ts';
import { variables } from './variables.ts';

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
    const isForwarded = flag.safeParse(forward);
    if (!isForwarded.success) refused.push(refusal(`BACKEND_${key}_FORWARD_AUTHORIZATION`, forward, BOOL));
    backends.set(key, { url, isAuthorizationForwarded: isForwarded.data === true });
  }
  return backends;
}
