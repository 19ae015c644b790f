import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import type { KafkaRecord } from '../../../src/kafka/batch.ts';
import { RecordPublisher } from '../../../src/kafka/record-publisher.ts';
import { FlowWait } from '../../../src/kafka/session/flow-wait.ts';
import { RecordTraces } from '../../../src/ops/tracing/record-traces.ts';
import { RecordingBus, convert, countingObserver, readableLog } from '../../kafka/consumer-harness.ts';
import { unlimited } from '../../kafka/fake-gateways.ts';
import { recordedSpans } from '../../support/recorded-spans.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const UNSAMPLED = PARENT.replace(/01$/, '00');

type Headers = KafkaRecord['headers'];

function recordWith(headers: Headers, offset = 0, value = '{"seq":1}'): KafkaRecord {
  const position = { topic: 'bids', partition: 2, offset, timestamp: 1763730000000 };
  return { ...position, key: Buffer.from('hunter2'), value: Buffer.from(value), headers };
}

/** A worker whose records without a context are sampled by `ratio`. */
function createWorker(ratio = 0) {
  const { spans, sampler, ended } = recordedSpans({ ratio });
  const traces = new RecordTraces({ spans, sampler, group: () => 'crier' });
  const bus = new RecordingBus();
  const { log } = readableLog();
  const ports = { convert, publish: bus.publish, deadLetter: () => Promise.resolve(), traces };
  const flow = new FlowWait(unlimited(), log);
  return { bus, ended, publisher: new RecordPublisher({ ...ports, flow }, countingObserver(), log) };
}

/** Names of the spans that records with these headers make. */
async function spansFor(headers: Headers, ratio?: number) {
  const { bus, ended, publisher } = createWorker(ratio);
  await publisher.publish([recordWith(headers)]);
  assert.equal(bus.messages.length, 1, 'published in any case');
  return { ended: ended(), trace: bus.messages[0]!.trace };
}

describe('the traces of a worker', () => {
  it("continue the producer's trace from the record to the message", async () => {
    const { ended, trace } = await spansFor({ traceparent: Buffer.from(PARENT), tracestate: Buffer.from('a=1, b=2') });
    assert.deepEqual(
      ended.map(({ name }) => name),
      ['publish bids', 'process bids'],
    );
    const [publish, process] = ended as [(typeof ended)[0], (typeof ended)[0]];
    assert.equal(process.traceId, TRACE);
    assert.equal(process.parentSpanId, '00f067aa0ba902b7');
    assert.equal(publish.parentSpanId, process.spanId);
    assert.deepEqual(publish.links, [process.spanId]);
    assert.deepEqual(trace, { traceId: TRACE, spanId: process.spanId, isSampled: true, state: 'a=1,b=2' });
    assert.deepEqual(process.attributes, {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'bids',
      'messaging.destination.partition.id': '2',
      'messaging.kafka.offset': 0,
      'messaging.message.body.size': 9,
      'messaging.consumer.group.name': 'crier',
      'crier.record.timestamp_ms': 1763730000000,
    });
  });

  it('begin with the record if it is sampled by chance', async () => {
    const { ended, trace } = await spansFor({}, 1);
    const process = ended.find(({ name }) => name === 'process bids')!;
    assert.equal(process.parentSpanId, undefined);
    assert.equal(trace?.spanId, process.spanId);
  });

  it('have no spans for a record that is not sampled', async () => {
    for (const [headers, ratio] of [
      [undefined, 0],
      [{}, 0],
      [{ traceparent: Buffer.from(UNSAMPLED) }, 1],
    ] as const) {
      const { ended, trace } = await spansFor(headers, ratio);
      assert.deepEqual(ended, []);
      assert.equal(trace, undefined);
    }
  });

  it('ignore headers that are no trace context, whatever they hold', async () => {
    const hostile: Headers[] = [
      { traceparent: Buffer.from('') },
      { traceparent: Buffer.alloc(1_000_000, 'a') },
      { traceparent: [Buffer.from(PARENT), Buffer.from(PARENT)] },
      { traceparent: Buffer.from(PARENT.toUpperCase()) },
      { traceparent: Buffer.from(`${PARENT}\n`) },
      { traceparent: Buffer.from([0xff, 0x00]) },
      { traceparent: null as never },
      { tracestate: Buffer.from('a=1') },
    ];
    for (const headers of hostile) assert.deepEqual((await spansFor(headers)).ended, []);
    const states: NonNullable<Headers>[string][] = [
      Buffer.from('a=1\n2'),
      Buffer.alloc(600, 'a'),
      null as never,
      Array.from({ length: 100_000 }, () => Buffer.from('a=1')),
    ];
    for (const tracestate of states) {
      const { trace } = await spansFor({ traceparent: Buffer.from(PARENT), tracestate: tracestate! });
      assert.equal(trace?.traceId, TRACE);
      assert.equal(trace.state, undefined);
    }
    const joined = await spansFor({
      traceparent: Buffer.from(PARENT),
      tracestate: [Buffer.from('a=1'), Buffer.from('b=2')],
    });
    assert.equal(joined.trace?.state, 'a=1,b=2');
  });

  it('link one publish with the records of its chunk', async () => {
    const { bus, ended, publisher } = createWorker(1);
    await publisher.publish(Array.from({ length: 200 }, (_, i) => recordWith({}, i)));
    const publishes = ended().filter(({ name }) => name === 'publish bids');
    const processes = ended().filter(({ name }) => name === 'process bids');
    assert.equal(processes.length, 200);
    assert.equal(publishes.length, 1);
    assert.equal(publishes[0]!.links.length, 128, 'a bound');
    assert.equal(publishes[0]!.parentSpanId, processes[0]!.spanId);
    assert.equal(new Set(bus.messages.map(({ trace }) => trace?.traceId)).size, 200);
  });

  it('name why a record or a publish failed, and show nothing of the record', async () => {
    const { bus, ended, publisher } = createWorker(1);
    await publisher.publish([recordWith({}, 0, 'hunter2')]);
    assert.deepEqual(
      ended().map(({ name, isError, attributes }) => [name, isError, attributes['error.type']]),
      [['process bids', true, 'not_json']],
    );
    bus.isAway = true;
    await assert.rejects(publisher.publish([recordWith({}, 1)]), BusUnavailableError);
    const failed = ended().slice(1);
    assert.deepEqual(failed.map(({ name, isError }) => [name, isError]).sort(), [
      ['process bids', true],
      ['publish bids', true],
    ]);
    assert.doesNotMatch(JSON.stringify(ended()), /hunter2/);
  });
});
