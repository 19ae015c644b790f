import type { Settings } from './settings.ts';

/** True without Kafka and Redis: the whole path in one process, fed by the graph's samples. */
export function isEmbedded({ KAFKA_BROKERS, REDIS_URL }: Settings): boolean {
  return KAFKA_BROKERS.length === 0 && REDIS_URL === '';
}

/**
 * A line for each server that the role needs and that is missing, or one line if EMBEDDED contradicts the others. In production a pod
 * without servers must not serve made-up records, so there the embedded mode must be asked for.
 */
export function modeProblems(settings: Settings, isProduction: boolean): string[] {
  const { ROLE: role, EMBEDDED: embedded, names } = settings;
  const hasKafka = settings.KAFKA_BROKERS.length > 0;
  const hasRedis = settings.REDIS_URL !== '';
  if (embedded === true) return embeddedProblems(settings);
  if (role === 'all' && isEmbedded(settings)) {
    const reason = embedded === false ? `${names.EMBEDDED}=false` : isProduction ? 'NODE_ENV=production' : undefined;
    if (reason === undefined) return [];
    return [
      `${names.KAFKA_BROKERS} and ${names.REDIS_URL}: expected with ${reason}, got neither; set both, or ${names.EMBEDDED}=true to run on the graph's sample records`,
    ];
  }
  const problems: string[] = [];
  if (!hasRedis) {
    const why = role === 'gateway' ? '' : ': workers and gateways meet only at Redis';
    problems.push(`${names.REDIS_URL}: expected a Redis with ${names.ROLE}=${role}, got none${why}`);
  }
  if (!hasKafka && role === 'worker')
    problems.push(`${names.KAFKA_BROKERS}: expected brokers with ${names.ROLE}=worker, got none`);
  if (!hasKafka && role === 'all') {
    problems.push(
      `${names.KAFKA_BROKERS}: expected brokers where ${names.REDIS_URL} is set, got none (${names.ROLE}=gateway needs none)`,
    );
  }
  return problems;
}

function embeddedProblems({ ROLE: role, KAFKA_BROKERS, REDIS_URL, names }: Settings): string[] {
  const servers = [
    ...(KAFKA_BROKERS.length > 0 ? [names.KAFKA_BROKERS] : []),
    ...(REDIS_URL !== '' ? [names.REDIS_URL] : []),
  ].join(' and ');
  if (servers !== '') {
    return [
      `${names.EMBEDDED}=true contradicts ${servers}: the embedded mode uses no server; unset ${names.EMBEDDED} to use the servers, or unset ${servers}`,
    ];
  }
  if (role === 'all') return [];
  return [
    `${names.EMBEDDED}=true contradicts ${names.ROLE}=${role}: embedded, one process plays both roles; unset ${names.EMBEDDED} and name the servers, or unset ${names.ROLE}`,
  ];
}
