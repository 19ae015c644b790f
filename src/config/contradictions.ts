import { parseRedisUrl } from './addresses/redis-address.ts';
import { isAddressRange } from './addresses/address-ranges.ts';
import { isCallbackPrefix } from './addresses/callback-url.ts';
import { isOrigin, isSiteOrigin, originFix } from './addresses/origin.ts';
import { variables } from './variables.ts';
import { documentsProblems } from './documents-problems.ts';
import { identityProblems } from './identity-problems.ts';
import { kafkaProblems } from './kafka-problems.ts';
import { redisAccessProblems } from './redis-access-problems.ts';
import { routerProblems } from './routers.ts';
import { nearValueFix } from './near-value.ts';
import { refusal } from './setting-refusal.ts';
import { schemaRegistryProblems } from './schema-registry-problems.ts';
import type { Settings } from './settings.ts';
import { finishMs, shutdownTimes } from './shutdown-times.ts';

/** A line for each pair of settings that exclude each other, and for each address that cannot be one. */
export function contradictions(settings: Settings): string[] {
  return [
    ...ports(settings),
    ...bounds(settings),
    ...times(settings),
    ...addresses(settings),
    ...routerProblems(settings),
    ...origins(settings),
    ...kafkaProblems(settings),
    ...redisAccessProblems(settings),
    ...schemaRegistryProblems(settings),
    ...identityProblems(settings),
    ...documentsProblems(settings),
  ];
}

/** 0 takes a free port. Two addresses have two ports of one number, unless one of them is all addresses. */
function ports({ ROLE: role, PORT: port, ADMIN_PORT: adminPort, HOST: host, ADMIN_HOST: adminHost, names }: Settings) {
  const isShared = [host, adminHost].some((one) => one === '0.0.0.0' || one === '::') || host === adminHost;
  if (role === 'worker' || port === 0 || port !== adminPort || !isShared) return [];
  return [`${names.PORT} and ${names.ADMIN_PORT}: expected two ports, got ${port} for both; set one to another`];
}

type BoundSettings = Pick<
  Settings,
  'MAX_QUEUE_BYTES' | 'MAX_POD_QUEUE_BYTES' | 'EXECUTION_TIMEOUT_MS' | 'BACKEND_TIMEOUT_MS' | 'names'
>;

/** A line for each bound that another bound excludes. */
export function bounds(settings: BoundSettings): string[] {
  const { MAX_QUEUE_BYTES: queue, MAX_POD_QUEUE_BYTES: podQueue } = settings;
  const { EXECUTION_TIMEOUT_MS: execution, BACKEND_TIMEOUT_MS: request, names } = settings;
  const problems: string[] = [];
  if (queue > podQueue)
    problems.push(
      `${names.MAX_QUEUE_BYTES}: expected no more than ${names.MAX_POD_QUEUE_BYTES} (${podQueue}), got ${queue}`,
    );
  if (execution < request)
    problems.push(
      `${names.EXECUTION_TIMEOUT_MS}: expected no less than ${names.BACKEND_TIMEOUT_MS} (${request}), got ${execution}`,
    );
  return problems;
}

function times(settings: Settings): string[] {
  const resolved = shutdownTimes(settings);
  if (finishMs(resolved) > 0) return [];
  const { DRAIN_DELAY_MS: delay, DRAIN_SPREAD_MS: spread, SHUTDOWN_TIMEOUT_MS: whole } = resolved;
  const { names } = settings;
  return [
    `${names.SHUTDOWN_TIMEOUT_MS}: expected more than ${names.DRAIN_DELAY_MS} (${delay}) + ${names.DRAIN_SPREAD_MS} (${spread}), got ${whole}`,
  ];
}

function addresses(settings: Settings): string[] {
  const { names } = settings;
  const brokers = settings.KAFKA_BROKERS.filter((broker) => !isBroker(broker));
  const callbacks = settings.CALLBACK_URLS.filter((url) => !isCallbackPrefix(url));
  const proxies = settings.TRUSTED_PROXIES.filter((range) => !isAddressRange(range));
  return [
    ...proxies.map((range) => refusal(names.TRUSTED_PROXIES, range, variables.TRUSTED_PROXIES.expects)),
    ...callbacks.map((url) => refusal(names.CALLBACK_URLS, url, variables.CALLBACK_URLS.expects)),
    ...redisUrlProblems(settings),
    ...brokers.map((broker) => {
      const fix = nearValueFix(broker, (text) => text.split(',').every(isBroker));
      return refusal(names.KAFKA_BROKERS, broker, variables.KAFKA_BROKERS.expects, false, fix);
    }),
  ];
}

function isBroker(text: string): boolean {
  return /^[^\s:/@;"'[\]]+:\d+$/.test(text) || /^\[[^\]]+\]:\d+$/.test(text);
}

function origins({ ALLOWED_ORIGINS: allowed, PUBLIC_ORIGIN: own, names }: Settings): string[] {
  const bad = allowed.filter((origin) => origin !== '*' && !isOrigin(origin));
  return [
    ...bad.map(
      (origin) => refusal(names.ALLOWED_ORIGINS, origin, variables.ALLOWED_ORIGINS.expects) + originFix(origin),
    ),
    ...(own === '' || isSiteOrigin(own)
      ? []
      : [refusal(names.PUBLIC_ORIGIN, own, variables.PUBLIC_ORIGIN.expects) + originFix(own)]),
  ];
}

function redisUrlProblems({ REDIS_URL: url, names }: Settings): string[] {
  if (url === '') return [];
  try {
    parseRedisUrl(url, names);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
