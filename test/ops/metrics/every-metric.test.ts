import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Registry } from 'prom-client';
import { PROCESS_VARIABLE } from '../../../src/config/processes.ts';
import { METRICS_PATH } from '../../../src/ops/processes/families-route.ts';
import { unpackFamilies } from '../../../src/ops/processes/metric-families.ts';
import { startPod } from '../../end-to-end/pod-server.ts';
import { withOutside } from '../../kafka/consumer-harness.ts';
import type { Outside } from '../../kafka/consumer-harness.ts';
import type { Cause, CausedElsewhere } from './causes/cause.ts';
import { clientCauses } from './causes/clients.ts';
import { documentCauses } from './causes/documents.ts';
import { executionCauses } from './causes/executions.ts';
import { kafkaCauses } from './causes/kafka.ts';
import { ownPodCauses } from './causes/own-pods.ts';
import { processCauses } from './causes/process.ts';
import { redisCauses } from './causes/redis.ts';
import { revocationCauses } from './causes/revocation.ts';
import { Stage, apart } from './causes/stage.ts';
import { parseOpenMetrics, promtool } from './promtool.ts';

/** Run one after the other. One file for each area; causes/cause.ts says how to add one. */
const CAUSES: readonly Cause[] = [
  ...processCauses,
  ...clientCauses,
  ...documentCauses,
  ...executionCauses,
  ...kafkaCauses,
  ...redisCauses,
  ...revocationCauses,
];

/** Causes with pods of their own wait for most of their time, and run beside each other. */
const BESIDE = { concurrency: ownPodCauses.length };

const ELSEWHERE: CausedElsewhere = {
  'test/end-to-end/boundary.test.ts': ['crier_failures_total', 'crier_unhandled_rejections_total'],
  'test/faults/standard-streams.test.ts': ['crier_log_lines_dropped_total'],
  'test/gateway/websocket/cold-documents.test.ts': ['crier_documents_waiting'],
  'test/server/worker-stage.test.ts': [
    'crier_flow_limited_partitions',
    'crier_flow_limited_seconds_total',
    'crier_flow_limited_by_gateway_seconds_total',
  ],
  'test/server/tunables-stage.test.ts': ['crier_sharing_audit_total'],
  'test/gateway/identity/expiry.test.ts': ['crier_tokens_expired_total'],
  'test/gateway/identity/refresh.test.ts': ['crier_tokens_refreshed_total'],
  'test/gateway/http/request-limits.test.ts': ['crier_requests_in_flight', 'crier_requests_total'],
  'test/server/server.test.ts': ['crier_backend_requests_total', 'crier_executions_waiting'],
  'test/server/backends-stage.test.ts': [
    'crier_backend_retries_total',
    'crier_backend_requests_in_flight',
    'crier_backend_requests_waiting',
    'crier_backend_request_seconds',
    'crier_backend_breaker_open',
  ],
  'test/gateway/identity/authentication.test.ts': ['crier_token_key_fetches_total'],
  'test/faults/redis-cluster.test.ts': ['crier_skipped_partitions'],
  'test/end-to-end/memory-guard.test.ts': ['crier_memory_guard_active', 'crier_memory_guard_connections_closed_total'],
  'test/end-to-end/change-records.test.ts': ['crier_unavailable_values_total'],
  'test/end-to-end/record-parts.test.ts': ['crier_record_parts_omitted_total'],
  'test/end-to-end/schema-registry.test.ts': ['crier_schema_waiting_partitions', 'crier_stopped_partitions'],
  'test/end-to-end/publishing.test.ts': ['crier_published_records_total'],
  'test/end-to-end/state.test.ts': ['crier_state_fill_records', 'crier_states_complete'],
  'test/reload/embedded.test.ts': ['crier_graph_reloads_total'],
  'test/kafka/consumer.test.ts': ['crier_transaction_waiting_partitions'],
  'test/faults/dead-letters.test.ts': ['crier_dead_letter_waiting_partitions'],
};

/** Gauges that have no start value to return to: of what stays cached, and of the process. */
const UNSETTLED =
  /^crier_(revocations$|documents_cached|document_cache_bytes|event_loop|heap_used_ratio|kafka_progress_age|kafka_topics_missing)/;

/** Gauges whose sum would mean nothing: shares, ages, the largest of several, and what is 0 or 1. */
const NO_AMOUNT = /^\w+_(ratio|info|max|age_seconds) |^\w+ (Always )?1\b/;

/** The gauges that are no sums, by their row of the table: patterns of their names. */
function aggregatorsOf(page: string): (readonly [name: RegExp, aggregator: string])[] {
  const rows = { max: 'the largest', min: 'the smallest', process: 'one series each, labelled `process`' };
  return Object.entries(rows).flatMap(([aggregator, title]) => {
    const [, , gauges = ''] = page
      .split('\n')
      .find((line) => line.startsWith(`| ${title} `))!
      .split('|');
    const names = Array.from(gauges.matchAll(/`(\w+_[\w*]+)`/g), ([, name]) => name!.replace('*', '\\w+'));
    return names.map((name) => [new RegExp(`^${name}$`), aggregator] as const);
  });
}

/** Names of the metrics in a text of `/metrics`, with their types. */
function typesOf(text: string): Map<string, string> {
  return new Map(Array.from(text.matchAll(/^# TYPE (crier_\w+) (\w+)$/gm), ([, name, type]) => [name!, type!]));
}

const textOf = async ({ pod }: Stage, accept = 'text/plain') =>
  (await fetch(`${pod.admin}/metrics`, { headers: { accept } })).text();

/** Values of the gauges that settle, by series. */
async function gaugesOf(stage: Stage): Promise<Record<string, number>> {
  const types = typesOf(await textOf(stage));
  const isGauge = (series: string) => types.get(series.split('{', 1)[0]!) === 'gauge' && !UNSETTLED.test(series);
  return Object.fromEntries([...(await stage.series())].filter(([series]) => isGauge(series)));
}

describe('every metric of a pod', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it(
    'moves when it should, is documented, passes promtool, and settles after churn',
    BESIDE,
    async (t: TestContext) => {
      const stage = await Stage.start(t, outside);
      await stage.has(`crier_kafka_lag_records{topic="${stage.topic}",partition="0"}`, 0);
      await stage.has(`crier_kafka_lag_records{topic="${stage.topic}",partition="1"}`, 0);
      const before = await gaugesOf(stage);

      for (const { title, run } of CAUSES) await t.test(`moves with ${title}`, (one) => run(stage, one));
      await Promise.all(ownPodCauses.map(({ title, run }) => t.test(`moves with ${title}`, (one) => run(stage, one))));

      await t.test('has a cause', async () => {
        const caused = new Set<string>([
          ...[...CAUSES, ...ownPodCauses].flatMap(({ metrics }) => metrics),
          ...Object.values(ELSEWHERE).flat(),
        ]);
        const exposed = new Set(typesOf(await textOf(stage)).keys());
        assert.deepEqual(
          [...exposed].filter((name) => !caused.has(name)),
          [],
          'without a cause',
        );
        assert.deepEqual(
          [...caused].filter((name) => !exposed.has(name)),
          [],
          'not exposed',
        );
        for (const [file, names] of Object.entries(ELSEWHERE))
          for (const name of names) assert.ok(readFileSync(file, 'utf8').includes(name), `${file}: ${name}`);
      });

      await t.test('is in docs/operate/metrics.md', async () => {
        const page = readFileSync('docs/operate/metrics.md', 'utf8');
        for (const name of typesOf(await textOf(stage)).keys()) assert.ok(page.includes(`\`${name}\``), name);
      });

      await t.test('has the aggregator of docs/operate/metrics.md if it is a gauge', async (one) => {
        const documented = aggregatorsOf(readFileSync('docs/operate/metrics.md', 'utf8'));
        for (const ROLE of ['all', 'gateway']) {
          const { admin } = await startPod(one, { ...apart(stage, ROLE), ROLE, [PROCESS_VARIABLE]: ROLE });
          const packed = await (await fetch(admin + METRICS_PATH)).arrayBuffer();
          for (const { name, help, type, aggregator } of unpackFamilies(Buffer.from(packed))) {
            if (type !== 'gauge') continue;
            const [, expected = 'sum'] = documented.find(([pattern]) => pattern.test(name)) ?? [];
            assert.equal(aggregator, expected, name);
            if (NO_AMOUNT.test(`${name} ${help}`)) assert.notEqual(aggregator, 'sum', name);
          }
        }
      });

      await t.test('passes promtool check metrics', async () => {
        assert.deepEqual(await promtool(['check', 'metrics'], await textOf(stage)), { code: 0, output: '' });
      });

      await t.test("is read by Prometheus's parser of OpenMetrics", async (one) => {
        const text = await textOf(stage, Registry.OPENMETRICS_CONTENT_TYPE);
        assert.doesNotMatch(text, /trace_id/, 'nothing is traced');
        const { code, output } = await parseOpenMetrics(one, text);
        assert.equal(code, 0, output);
      });

      await t.test('settles', async () => {
        const settled = async () => {
          const now = await gaugesOf(stage);
          return Object.entries(before).filter(([series, value]) => !Object.is(now[series], value));
        };
        await stage.pod
          .until('the start values', async () => (await settled()).length === 0)
          .catch(async (error: Error) => {
            throw new Error(`${JSON.stringify(await settled())}: ${error.message}`);
          });
      });
    },
  );
});
