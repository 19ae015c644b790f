import type { KafkaProbe } from '../../kafka/client/kafka-probe.ts';
import { skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** Warns of topics with `state` that are not compacted. Kafka then drops the last record of a key, while its state stays. */
export async function checkCompaction(probe: KafkaProbe, topics: readonly string[]): Promise<Finding[]> {
  if (topics.length === 0) return [];
  try {
    return [...(await probe.cleanupPolicies(topics))].flatMap(([topic, policy]) => {
      if (policy.includes('compact')) return [];
      const reason = 'a key whose last record has expired keeps its state, and filling the states reads every record';
      const fix = `set cleanup.policy=compact, or state: { seconds: … } in @kafka`;
      return [warning(`Kafka: the topic ${topic} keeps states, but has cleanup.policy=${policy}: ${reason}; ${fix}`)];
    });
  } catch (error) {
    const what = `whether topics with state are compacted (${topics.join(', ')})`;
    return [skipped(`Kafka: ${what} cannot be read: ${(error as Error).message}; grant DescribeConfigs on them`)];
  }
}
