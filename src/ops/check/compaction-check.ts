import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const POLICY = 'cleanup.policy';

/** Warns of topics with `state` that are not compacted. Kafka then drops the last record of a key, while its state stays. */
export async function checkCompaction(admin: Admin, topics: readonly string[]): Promise<Finding[]> {
  if (topics.length === 0) return [];
  const wanted = topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: [POLICY] }));
  try {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: wanted });
    return resources.flatMap(({ resourceName, configEntries }) => {
      const policy = configEntries.find(({ configName }) => configName === POLICY)?.configValue ?? '';
      if (policy.includes('compact')) return [];
      const reason = 'a key whose last record has expired keeps its state, and filling the states reads every record';
      const fix = `set ${POLICY}=compact, or state: { seconds: … } in @kafka`;
      return [warning(`Kafka: the topic ${resourceName} keeps states, but has ${POLICY}=${policy}: ${reason}; ${fix}`)];
    });
  } catch (error) {
    const what = `whether topics with state are compacted (${topics.join(', ')})`;
    return [skipped(`Kafka: ${what} cannot be read: ${(error as Error).message}; grant DescribeConfigs on them`)];
  }
}
