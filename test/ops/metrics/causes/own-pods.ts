import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startKafkaBroker } from '../../../../stack/kafka-broker.ts';
import { spawnPod } from '../../../end-to-end/pod-process.ts';
import { startPod } from '../../../end-to-end/pod-server.ts';
import { CallbackRouter } from '../../../gateway/callback/callback-router.ts';
import { Outside } from '../../../kafka/consumer-harness.ts';
import { OtlpReceiver } from '../../../support/otlp-receiver.ts';
import { openSocket } from '../../../support/socket.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { seriesOf } from '../series.ts';
import type { Cause } from './cause.ts';
import { apart } from './stage.ts';

/** A subscription document of 60,000 fields, which takes a pod without limits some tenths of a second. */
const heavyDocument = (name: string) => `query ${name} { ${'hello '.repeat(60_000)} }`;

/** Causes that need pods with settings of their own. */
export const ownPodCauses: readonly Cause[] = [
  {
    title: 'a drain',
    metrics: ['crier_draining', 'crier_drain_connections_closed_total'],
    run: async (stage, t) => {
      const settings = { ...apart(stage, 'drain'), ROLE: 'gateway', DRAIN_SPREAD_MS: '60000' };
      const pod = await spawnPod(t, settings).started();
      for (let i = 0; i < 8; i++) await (await openSocket(t, pod.url)).init();
      assert.equal(await pod.metric('crier_draining'), 0);
      assert.equal(await pod.metric('crier_drain_connections_closed_total'), 0);
      pod.process.kill('SIGTERM');
      await pod.until('the drain', async () => (await pod.metric('crier_draining')) === 1);
      await pod.counts('crier_drain_connections_closed_total', 1);
      assert.equal(await pod.stop(), 0);
    },
  },
  {
    title: 'sampled records, more than the budget of spans, and a collector that fails',
    metrics: ['crier_spans_total', 'crier_spans_refused_total', 'crier_spans_lost_total'],
    run: async (stage, t) => {
      const collector = await new OtlpReceiver().start(t);
      collector.mode = 400;
      const settings = {
        ...apart(stage, 'spans'),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER: 'always_on',
        OTEL_BSP_SCHEDULE_DELAY: '10',
      };
      const pod = await spawnPod(t, settings).started();
      await pod.reports({ kafka: 'connected' });
      const record = '{"thing":{"id":"1"}}';
      const first = 'crier_records_consumed_total{topic="' + stage.topic + '"}';
      while ((await pod.metric(first)) === 0) await stage.send(record);
      await pod.counts('crier_spans_total', 1);
      while ((await pod.metric('crier_spans_refused_total')) === 0)
        await stage.send(...Array.from({ length: 1000 }, () => record));
      await pod.counts('crier_spans_lost_total', 1);
      assert.equal(await pod.stop(), 0);
    },
  },
  {
    title: 'a subscription whose results are posted to a callback',
    metrics: ['crier_callback_posts_total'],
    run: async (stage, t) => {
      const router = await CallbackRouter.start(t);
      const pod = await startPod(t, { ...apart(stage, 'callback'), ROLE: 'gateway', CALLBACK_URLS: router.url });
      const { status } = await router.subscribe(pod.endpoint, 'subscription { thing(id: "1") { id } }');
      assert.equal(status, 200);
      assert.equal(await pod.metric('crier_callback_posts_total{result="delivered"}'), 1);
      await pod.stop();
    },
  },
  {
    title: 'tunables, good ones and bad ones',
    metrics: ['crier_tunable', 'crier_tunables_rejected_total', 'crier_tunables_outdated'],
    run: async (stage, t) => {
      const folder = await temporaryFolder(t);
      const file = join(folder, 'tunables.json');
      // Whole at each moment: the pod reads it when it wants.
      const write = async (text: string) => {
        await writeFile(join(folder, 'next.json'), text);
        await rename(join(folder, 'next.json'), file);
      };
      await write('{"MAX_EXECUTIONS": 7}');
      const pod = await startPod(t, { ...apart(stage, 'tunables'), ROLE: 'gateway', TUNABLES_FILE: file });
      const tunable = 'crier_tunable{name="MAX_EXECUTIONS"}';
      assert.equal(await pod.metric(tunable), 7);
      await write('{"MAX_EXECUTIONS": 8}');
      await pod.until('the change', async () => (await pod.metric(tunable)) === 8);
      assert.equal(await pod.metric('crier_tunables_rejected_total'), 0);
      assert.equal(await pod.metric('crier_tunables_outdated'), 0);
      await write('{"MAX_EXECUTIONS": -1}');
      await pod.counts('crier_tunables_rejected_total', 1);
      assert.equal(await pod.metric('crier_tunables_outdated'), 1);
      assert.equal(await pod.metric(tunable), 8);
      await write('{"MAX_EXECUTIONS": 9}');
      await pod.until('the correction', async () => (await pod.metric(tunable)) === 9);
      assert.equal(await pod.metric('crier_tunables_outdated'), 0);
      await pod.stop();
    },
  },
  {
    title: 'a dead-letter topic that takes nothing, with DEAD_LETTER=DROP',
    metrics: ['crier_dead_letter_failures_total'],
    run: async (stage, t) => {
      const settings = { ...apart(stage, 'drop'), DEAD_LETTER: 'DROP', KAFKA_DEAD_LETTER_TOPIC: 'not a topic name' };
      const pod = await startPod(t, { ...settings, KAFKA_FROM_BEGINNING: 'true' });
      await stage.send('not JSON');
      await pod.counts('crier_dead_letter_failures_total', 1);
      await pod.stop();
    },
  },
  {
    title: 'events that wait because the executions before them do',
    metrics: ['crier_flow_waiting_bytes', 'crier_flow_gateway_lag_bytes'],
    run: async (stage, t) => {
      const settings = {
        ...apart(stage, 'flow'),
        MAX_EXECUTIONS: '1',
        BACKEND_TIMEOUT_MS: '60000',
        EXECUTION_TIMEOUT_MS: '60000',
      };
      const pod = await startPod(t, settings);
      await pod.reports({ kafka: 'connected' });
      const socket = await openSocket(t, pod.url);
      await socket.init();
      // No record of another cause: a flood of them would end the subscription, and nothing would wait.
      socket.subscribe('1', 'subscription { thing(id: "flow") { asked } }');
      await socket.roundTrip();
      const lags = async () =>
        [...(await seriesOf(pod.admin))].filter(([name]) => name.startsWith('crier_flow_gateway_lag_bytes'));
      const isBehind = async () =>
        (await pod.metric('crier_flow_waiting_bytes')) > 0 && (await lags()).some(([, value]) => value > 0);
      // The shop answers nothing. The gateway tells its lag when half of a window is used, or when the worker asks: it asks when it must wait.
      const record = JSON.stringify({ thing: { id: 'flow', text: 'x'.repeat(60_000) } });
      await pod.until('waiting bytes', async () => {
        await stage.send(record);
        return isBehind();
      });
    },
  },
  {
    title: 'a client whose documents take too long',
    metrics: ['crier_documents_refused_total'],
    run: async (stage, t) => {
      const settings = {
        ...apart(stage, 'documents'),
        ROLE: 'gateway',
        MAX_MESSAGE_BYTES: '4000000',
        MAX_QUERY_TOKENS: '1000000',
        MAX_CONNECTION_BYTES: '1000000000',
      };
      const pod = await startPod(t, settings);
      const socket = await openSocket(t, pod.url, { patienceMs: 60_000 });
      await socket.init();
      for (let i = 0; i < 140 && (await pod.metric('crier_documents_refused_total')) === 0; i++) {
        socket.subscribe(String(i), heavyDocument(`number${i}`));
        // A query is answered with `next` and `complete`, a refusal with `error`.
        while ((await socket.next()).type === 'next');
      }
      assert.equal(await pod.metric('crier_documents_refused_total'), 1);
      socket.close();
      await pod.stop();
    },
  },
  {
    title: 'records that are deleted before they are read, and a Kafka that ends before a commit',
    metrics: [
      'crier_kafka_missed_records_total',
      'crier_kafka_commit_failures_total',
      'crier_consumer_rebuilds_total',
      'crier_kafka_connected',
    ],
    run: async (stage, t) => {
      const broker = await startKafkaBroker();
      t.after(() => broker.stop());
      const outside = new Outside(broker.address);
      await outside.connect();
      const { topic } = stage;
      const lag = `crier_kafka_lag_records{topic="${topic}",partition="0"}`;
      await outside.createTopic(topic, 1);
      await outside.sendValues(topic, ['{}', '{}', '{}']);
      const groupId = stage.settings['KAFKA_GROUP_ID']!;
      await outside.ask(async (admin) => {
        await admin.fetchTopicOffsets(topic);
        await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] });
        await admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '1' }] });
      });
      const settings = { ...stage.settings, KAFKA_BROKERS: broker.address, CHANNEL_PREFIX: 'other:' };
      // The lag is looked at in a quarter of the time without progress.
      const pod = await startPod(t, { ...settings, KAFKA_STALL_TIMEOUT_MS: '8000' });
      await pod.reports({ kafka: 'connected' });
      const socket = await openSocket(t, pod.url);
      await socket.init();
      socket.subscribe('1', 'subscription { any_thing { id } }');
      await socket.roundTrip();
      assert.equal((await seriesOf(pod.admin)).get(`crier_kafka_missed_records_total{topic="${topic}"}`), 2);
      await pod.until('the lag', async () => (await seriesOf(pod.admin)).get(lag) === 0);
      await outside.send(topic, [{ value: '{"thing":{"id":"1"}}' }]);
      // The commit follows up to 200 ms after the event.
      await socket.next();
      broker.process.kill('SIGKILL');
      await outside.close().catch(() => undefined);
      const { pod: ours } = stage;
      await pod.counts('crier_kafka_commit_failures_total', 1);
      await pod.until('the loss', async () => (await seriesOf(pod.admin)).get('crier_kafka_connected') === 0);
      await pod.until('an unknown lag', async () => Number.isNaN((await seriesOf(pod.admin)).get(lag)));
      const rebuilds = async () =>
        [...(await seriesOf(pod.admin))].filter(([name]) => name.startsWith('crier_consumer_rebuilds_total'));
      await pod.until('a rebuild', async () => (await rebuilds()).some(([, value]) => value > 0));
      assert.equal(await ours.metric('crier_kafka_commit_failures_total'), 0);
    },
  },
];
