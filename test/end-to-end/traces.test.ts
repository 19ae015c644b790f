import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { parseOpenMetrics } from '../ops/metrics/promtool.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { OtlpReceiver } from '../support/otlp-receiver.ts';
import type { ReceivedSpan } from '../support/otlp-receiver.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PRODUCER_SPAN = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${PRODUCER_SPAN}-01`;
const UNSAMPLED = SAMPLED.replace(/01$/, '00');

interface Result {
  readonly data: unknown;
  readonly extensions: Readonly<Record<string, unknown>>;
}

const ORDERS = 'subscription Watch($secret: String) { order(note: $secret) { order_id rating } }';

const graphFiles = (topic: string) => ({
  'schema.graphql': `type Subscription {
  order(note: String): Order @kafka(topic: "${topic}", payload: "order", history: { entries: 10 })
}

type Order {
  order_id: ID!
  rating: Int
}
`,
  'context.ts': `export const backends = ['ratings'];`,
  'resolvers.ts': `export const Order = {
  rating: async ({ order_id }, _args, { backends }) => (await backends.ratings.get('/ratings/' + order_id)).rating,
};
`,
});

/** Answers every request, and keeps its headers. */
async function ratingsBackend(t: TestContext) {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    requests.push(headers);
    response.end('{"rating":5}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function openMetricsOf({ admin }: Pod): Promise<string> {
  const response = await fetch(`${admin}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
  return response.text();
}

/** Trace ids of the exemplars of a histogram. */
function exemplarsOf(metrics: string, name: string): string[] {
  const buckets = metrics.split('\n').filter((line) => line.startsWith(`${name}_bucket{`));
  return buckets.flatMap((line) => / # \{trace_id="(\w+)"\} \S+ \S+$/.exec(line)?.[1] ?? []);
}

/** The spans of a sampled record with one subscriber. */
function spanNames(topic: string): string[] {
  return [`process ${topic}`, `publish ${topic}`, 'deliver order', 'execute order', 'GET ratings', 'write order'];
}

describe('traces over Kafka and Redis', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** Settings of the pods, which export each span at once. They are processes: OpenTelemetry's SDK reads its settings from the environment. */
  async function createStage(t: TestContext) {
    const topic = await outside.createTopic(undefined, 1);
    const name = randomName('traces');
    const collector = await new OtlpReceiver().start(t);
    const backend = await ratingsBackend(t);
    const settings = {
      GRAPH: await graphFolder(t, graphFiles(topic)),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
      BACKEND_RATINGS_URL: backend.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '10',
    };
    const write = (orderId: string, headers?: Record<string, string>) =>
      outside.send(topic, [{ key: 'k', value: JSON.stringify({ order: { orderId } }), ...(headers && { headers }) }]);
    return { topic, collector, backend, settings, write };
  }

  /** Writes records that are not sampled until one arrives: the protocol does not acknowledge a subscribe. */
  async function subscribed(
    subscription: Watch,
    write: (id: string, headers: Record<string, string>) => Promise<void>,
  ) {
    while (subscription.events.length === 0) {
      await write('first', { traceparent: UNSAMPLED });
      await subscription.event(1, 1000).catch(() => assert.deepEqual(subscription.failures, []));
    }
  }

  it("continue the producer's trace through worker, Redis and gateway to the backend", async (t) => {
    const { topic, collector, backend, settings, write } = await createStage(t);
    const { KAFKA_BROKERS, ...shared } = settings;
    const worker = spawnPod(t, { ...settings, ROLE: 'worker' });
    const gateway = spawnPod(t, { ...shared, ROLE: 'gateway', OTEL_SERVICE_NAME: 'orders-gateway' });
    await Promise.all([worker.started(), gateway.started()]);
    assert.ok(KAFKA_BROKERS);
    const subscription = watch(t, gateway.url, ORDERS, { secret: 'hunter2' });
    await subscribed(subscription, write);
    assert.equal(collector.spans.length, 0, 'no span of a record that its producer did not sample');
    assert.ok(backend.requests.every(({ traceparent }) => traceparent === undefined));

    await write('9', { traceparent: SAMPLED, tracestate: 'vendor=a:b', baggage: 'user=hunter2' });
    const before = subscription.events.length;
    await gateway.until('the event', () =>
      subscription.events.slice(before - 1).some(({ order }) => (order as { order_id: string }).order_id === '9'),
    );
    const names = spanNames(topic);
    await gateway.until('all spans', () => names.every((name) => collector.named(name).length > 0));
    assert.equal(collector.spans.length, names.length);
    const metrics = await openMetricsOf(gateway);
    for (const name of ['crier_delivery_latency_seconds', 'crier_execution_seconds'])
      assert.deepEqual(exemplarsOf(metrics, name), [TRACE], name);
    const { code, output } = await parseOpenMetrics(t, metrics);
    assert.equal(code, 0, output);
    const [process, publish, deliver, execute, request, written] = names.map((name) => collector.named(name)[0]!) as [
      ReceivedSpan,
      ReceivedSpan,
      ReceivedSpan,
      ReceivedSpan,
      ReceivedSpan,
      ReceivedSpan,
    ];
    for (const span of collector.spans) {
      assert.equal(span.traceId, TRACE, span.name);
      assert.equal(span.traceState, 'vendor=a:b');
      assert.equal(span.isError, false);
      assert.ok(span.endedAt >= span.startedAt);
    }
    assert.equal(process.parentSpanId, PRODUCER_SPAN);
    assert.equal(publish.parentSpanId, process.spanId);
    assert.deepEqual(publish.links, [{ traceId: TRACE, spanId: process.spanId }]);
    assert.equal(deliver.parentSpanId, process.spanId);
    assert.equal(execute.parentSpanId, deliver.spanId);
    assert.equal(request.parentSpanId, execute.spanId);
    assert.equal(written.parentSpanId, deliver.spanId);
    assert.deepEqual(
      [process, publish, deliver, execute, request, written].map(({ kind }) => kind),
      [5, 4, 5, 1, 3, 1],
    );
    assert.deepEqual(
      [process, deliver].map(({ resource }) => resource['service.name']),
      ['crier', 'orders-gateway'],
    );
    assert.equal(execute.attributes['graphql.operation.name'], 'Watch');
    const { traceparent, tracestate, baggage } = backend.requests.at(-1)!;
    assert.equal(traceparent, `00-${TRACE}-${request.spanId}-01`);
    assert.equal(tracestate, 'vendor=a:b');
    assert.equal(baggage, undefined);
    const exported = JSON.stringify(collector.spans, (_, value: unknown) => (typeof value === 'bigint' ? '' : value));
    assert.doesNotMatch(exported, /hunter2|ratings\/9/);
    assert.deepEqual(await Promise.all([worker.stop(), gateway.stop()]), [0, 0]);
  });

  it('have no span of a replayed event, whose payload and cursor are those of its delivery', async (t) => {
    const { topic, collector, backend, settings, write } = await createStage(t);
    const pod = await spawnPod(t, settings).started();
    const connect = async (extensions?: object) => {
      const socket = await openSocket(t, pod.url);
      await socket.init();
      socket.subscribe('1', ORDERS, undefined, extensions);
      return socket;
    };
    const take = async (socket: Socket, count: number) =>
      (await socket.take(count)).map(({ payload }) => payload as Result);
    const live = await connect();
    await pod.counts('crier_channels', 1);
    await write('1', { traceparent: UNSAMPLED });
    await write('2', { traceparent: SAMPLED, tracestate: 'vendor=a:b' });
    await write('3', { traceparent: UNSAMPLED });
    const events = await take(live, 3);
    assert.deepEqual(
      events.map(({ data }) => data),
      ['1', '2', '3'].map((order_id) => ({ order: { order_id, rating: 5 } })),
    );
    const names = spanNames(topic);
    await pod.until('all spans', () => names.every((name) => collector.named(name).length > 0));
    backend.requests.length = 0;

    const before = await connect({ resume: { cursor: events[0]!.extensions.cursor } });
    const replayed = await take(before, 2);
    assert.deepEqual(replayed, [{ ...events[1]!, extensions: { ...events[1]!.extensions, resumed: true } }, events[2]]);
    assert.ok(backend.requests.length > 0);
    assert.ok(backend.requests.every(({ traceparent, tracestate }) => !traceparent && !tracestate));
    const after = await connect({ resume: { cursor: events[1]!.extensions.cursor } });
    const [next] = await take(after, 1);
    assert.deepEqual(next, { ...events[2]!, extensions: { ...events[2]!.extensions, resumed: true } });

    // Its spans are exported after those that a replay might have started.
    await write('4', { traceparent: SAMPLED });
    for (const socket of [live, before, after])
      assert.deepEqual((await take(socket, 1))[0]!.data, { order: { order_id: '4', rating: 5 } });
    await pod.until('the next spans', () => collector.named('write order').length > 1);
    assert.deepEqual(
      collector.named('deliver order').map(({ attributes }) => attributes['messaging.kafka.offset']),
      [1, 3],
    );
    assert.equal(await pod.stop(), 0);
  });

  it('let a pod end in time whose collector hangs', async (t) => {
    const { collector, settings, write } = await createStage(t);
    collector.mode = 'hang';
    const pod = await spawnPod(t, { ...settings, OTEL_TRACES_SAMPLER: 'always_on', DRAIN_SPREAD_MS: '100' }).started();
    const subscription = watch(t, pod.url, ORDERS);
    await subscribed(subscription, write);
    await pod.until('an export', () => collector.requests.length > 0);
    assert.equal(await pod.stop(), 0);
    assert.equal(await subscription.closed(), 1001);
  });

  it('lose spans and no event while the collector fails, and log it once', async (t) => {
    const { collector, settings, write } = await createStage(t);
    collector.mode = 400;
    const pod = await spawnPod(t, { ...settings, OTEL_TRACES_SAMPLER: 'always_on' }).started();
    const subscription = watch(t, pod.url, ORDERS);
    await subscribed(subscription, write);
    await pod.counts('crier_spans_lost_total', 2);
    await write('2');
    await subscription.event(2);
    assert.equal(pod.lines.filter(({ msg }) => msg === 'spans could not be exported').length, 1);
    assert.equal(await pod.metric('crier_unhandled_rejections_total'), 0);
    collector.mode = 'accept';
    await write('3');
    await pod.until('a span', () => collector.spans.length > 0);
    assert.equal(await pod.stop(), 0);
  });
});
