import assert from 'node:assert/strict';
import { startPod } from '../../../end-to-end/pod-server.ts';
import { seriesOf } from '../series.ts';
import type { Cause } from './cause.ts';

const thing = (id: string, more = '') => `{"thing":{"id":"${id}"${more}}}`;

const lagOf = (topic: string, partition: number) =>
  `crier_kafka_lag_records{topic="${topic}",partition="${partition}"}`;
const ageOf = (topic: string, partition: number) =>
  `crier_kafka_progress_age_seconds{topic="${topic}",partition="${partition}"}`;

export const kafkaCauses: readonly Cause[] = [
  {
    title: 'records, good ones and poison',
    metrics: [
      'crier_records_consumed_total',
      'crier_record_bytes_total',
      'crier_poison_records_total',
      'crier_tombstones_total',
      'crier_messages_published_total',
      'crier_stage_seconds',
    ],
    run: async (stage) => {
      const { topic } = stage;
      const records = [thing('1'), thing('2'), 'not JSON', null];
      const bytes = records.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      await stage.moves(
        {
          [`crier_records_consumed_total{topic="${topic}"}`]: 4,
          [`crier_record_bytes_total{topic="${topic}"}`]: bytes,
          [`crier_poison_records_total{topic="${topic}",reason="not_json"}`]: 1,
          [`crier_tombstones_total{topic="${topic}",outcome="unrouted"}`]: 1,
          // One for each of two fields.
          crier_messages_published_total: 4,
        },
        () => stage.send(...records),
      );
      const stages = [...(await stage.series())].filter(([name]) => name.startsWith('crier_stage_seconds_count'));
      assert.ok(stages.some(([, count]) => count > 0));
    },
  },
  {
    title: 'records that fit the graph badly',
    metrics: [
      'crier_records_unmatched_total',
      'crier_key_collisions_total',
      'crier_protos_dropped_total',
      'crier_number_overflows_total',
    ],
    run: async (stage) => {
      await stage.moves(
        {
          'crier_records_unmatched_total{field="any_thing",reason="payload_absent"}': 1,
          'crier_records_unmatched_total{field="thing",reason="match_absent"}': 1,
          crier_key_collisions_total: 1,
          crier_protos_dropped_total: 1,
          crier_number_overflows_total: 1,
        },
        () => stage.send('{"other":1}', thing('1', ',"fooBar":1,"foo_bar":2,"__proto__":{"a":1},"count":1e400')),
      );
    },
  },
  {
    title: 'a topic that appears, and a member that joins and leaves',
    metrics: [
      'crier_kafka_connected',
      'crier_kafka_topics_missing',
      'crier_kafka_rebalances_total',
      'crier_kafka_lag_records',
      'crier_kafka_progress_age_seconds',
    ],
    run: async (stage, t) => {
      const { topic, missingTopic, outside, settings } = stage;
      assert.equal(await stage.value('crier_kafka_connected'), 1);
      assert.equal(await stage.value('crier_kafka_topics_missing'), 1);
      await stage.has(lagOf(topic, 0), 0);
      await stage.grows(['crier_kafka_rebalances_total'], () => outside.createTopic(missingTopic, 1));
      await stage.has('crier_kafka_topics_missing', 0);
      await stage.has(lagOf(missingTopic, 0), 0);
      assert.ok((await stage.value(ageOf(topic, 0))) < 60);
      const partitions = async (admin: string) =>
        [...(await seriesOf(admin)).keys()].filter((name) => name.startsWith('crier_kafka_lag_records')).sort();
      const all = await partitions(stage.pod.admin);
      const other = await startPod(t, { ...settings, ROLE: 'worker' });
      await stage.pod.until('a division of the partitions', async () => {
        const [ours, theirs] = [await partitions(stage.pod.admin), await partitions(other.admin)];
        return (
          ours.length > 0 && theirs.length > 0 && JSON.stringify([...ours, ...theirs].sort()) === JSON.stringify(all)
        );
      });
      await stage.grows(['crier_kafka_rebalances_total'], () => other.stop());
      await stage.pod.until('all partitions', async () => (await partitions(stage.pod.admin)).length === all.length);
    },
  },
];
