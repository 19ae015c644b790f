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
  const { ROLE: role, EMBEDDED: embedded } = settings;
  const hasKafka = settings.KAFKA_BROKERS.length > 0;
  const hasRedis = settings.REDIS_URL !== '';
  if (embedded === true) return embeddedProblems(settings);
  if (role === 'all' && isEmbedded(settings)) {
    const reason = embedded === false ? 'EMBEDDED=false' : isProduction ? 'NODE_ENV=production' : undefined;
    if (reason === undefined) return [];
    return [
      `KAFKA_BROKERS and REDIS_URL: expected with ${reason}, got neither; set both, or EMBEDDED=true to run on the graph's sample records`,
    ];
  }
  const problems: string[] = [];
  if (!hasRedis) {
    const why = role === 'gateway' ? '' : ': workers and gateways meet only at Redis';
    problems.push(`REDIS_URL: expected a Redis with ROLE=${role}, got none${why}`);
  }
  if (!hasKafka && role === 'worker') problems.push('KAFKA_BROKERS: expected brokers with ROLE=worker, got none');
  if (!hasKafka && role === 'all') {
    problems.push('KAFKA_BROKERS: expected brokers where REDIS_URL is set, got none (ROLE=gateway needs none)');
  }
  return problems;
}

function embeddedProblems({ ROLE: role, KAFKA_BROKERS, REDIS_URL }: Settings): string[] {
  const servers = [
    ...(KAFKA_BROKERS.length > 0 ? ['KAFKA_BROKERS'] : []),
    ...(REDIS_URL !== '' ? ['REDIS_URL'] : []),
  ].join(' and ');
  if (servers !== '') {
    return [
      `EMBEDDED=true contradicts ${servers}: the embedded mode uses no server; unset EMBEDDED to use the servers, or unset ${servers}`,
    ];
  }
  if (role === 'all') return [];
  return [
    `EMBEDDED=true contradicts ROLE=${role}: embedded, one process plays both roles; unset EMBEDDED and name the servers, or unset ROLE`,
  ];
}
