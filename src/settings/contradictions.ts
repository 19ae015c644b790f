import { variables } from '../variables.ts';
import { documentsProblems } from './documents-problems.ts';
import { identityProblems } from './identity-problems.ts';
import { refusal } from './refusal.ts';
import type { Settings } from './settings.ts';
import { finishMs, shutdownTimes } from './shutdown-times.ts';

/** A line for each pair of settings that exclude each other, and for each address that cannot be one. */
export function contradictions(settings: Settings): string[] {
  return [
    ...bounds(settings),
    ...times(settings),
    ...addresses(settings),
    ...credentials(settings),
    ...identityProblems(settings),
    ...documentsProblems(settings),
  ];
}

/** A line for each bound that another bound excludes. */
export function bounds(settings: Omit<Settings, 'EMBEDDED' | 'SHARING_AUDIT' | 'OTEL_TRACES_SAMPLER_ARG'>): string[] {
  const { MAX_INFLATED_BATCH_BYTES: inflated, MAX_INFLIGHT_BYTES: inflight } = settings;
  const { MAX_QUEUE_BYTES: queue, MAX_POD_QUEUE_BYTES: podQueue } = settings;
  const { EXECUTION_TIMEOUT_MS: execution, BACKEND_TIMEOUT_MS: request } = settings;
  const problems: string[] = [];
  if (inflated > inflight)
    problems.push(`MAX_INFLATED_BATCH_BYTES: expected no more than MAX_INFLIGHT_BYTES (${inflight}), got ${inflated}`);
  if (queue > podQueue)
    problems.push(`MAX_QUEUE_BYTES: expected no more than MAX_POD_QUEUE_BYTES (${podQueue}), got ${queue}`);
  if (execution < request)
    problems.push(`EXECUTION_TIMEOUT_MS: expected no less than BACKEND_TIMEOUT_MS (${request}), got ${execution}`);
  return problems;
}

function times(settings: Settings): string[] {
  const resolved = shutdownTimes(settings);
  if (finishMs(resolved) > 0) return [];
  const { DRAIN_DELAY_MS: delay, DRAIN_SPREAD_MS: spread, SHUTDOWN_TIMEOUT_MS: whole } = resolved;
  return [
    `SHUTDOWN_TIMEOUT_MS: expected more than DRAIN_DELAY_MS (${delay}) + DRAIN_SPREAD_MS (${spread}), got ${whole}`,
  ];
}

function addresses(settings: Settings): string[] {
  const urls = settings.REDIS_URL.filter((url) => !/^rediss?:\/\/./.test(url));
  const brokers = settings.KAFKA_BROKERS.filter(
    (broker) => !/^[^\s:/]+:\d+$/.test(broker) && !/^\[[^\]]+\]:\d+$/.test(broker),
  );
  return [
    ...urls.map((url) => refusal('REDIS_URL', url, variables.REDIS_URL.expects, true)),
    ...brokers.map((broker) => refusal('KAFKA_BROKERS', broker, variables.KAFKA_BROKERS.expects)),
  ];
}

function credentials(settings: Settings): string[] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = settings;
  if (mechanism === '') {
    if (username === '' && password === '') return [];
    const { expects } = variables.KAFKA_SASL_MECHANISM;
    return [`KAFKA_SASL_MECHANISM: expected ${expects} with KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD, got none`];
  }
  if (username !== '' && password !== '') return [];
  return [`KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD: expected with KAFKA_SASL_MECHANISM=${mechanism}`];
}
