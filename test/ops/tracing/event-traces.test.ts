import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventTraces } from '../../../src/ops/tracing/event-traces.ts';
import { recordedSpans } from '../../support/recorded-spans.ts';
import { waitFor } from '../../support/wait-for.ts';

const COORDINATES = {
  partition: 0,
  offset: 7,
  trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true },
};

function createEvent({ perSecond = 1000 } = {}) {
  const { spans, ended } = recordedSpans({ perSecond });
  const traces = new EventTraces({ spans, isWritten: () => true, topicOf: (channel) => channel.split('{')[0]! });
  const event = { channel: 'bids{id="hunter2"}', field: 'bid', coordinates: COORDINATES, length: 9 };
  const trace = traces.start({ ...event, members: 4000, groups: 1 }, (job) => setImmediate(job));
  return { trace, ended, named: (name: string) => ended().filter((span) => span.name === name) };
}

const member = (isLagging = () => false) => ({
  operation: { key: 'sha256', name: 'Bids' },
  get isLagging() {
    return isLagging();
  },
});

describe('the traces of a gateway', () => {
  it('have 8 spans for 4,000 executions of one event, and their count', async () => {
    const { trace, ended, named } = createEvent();
    for (let i = 0; i < 4000; i++) trace!.startExecution(member())?.end();
    trace!.onResult();
    trace!.onServed();
    await waitFor('the end', () => named('deliver bid').length === 1);
    assert.equal(named('execute bid').length, 8);
    assert.equal(ended().length, 10);
    assert.equal(named('deliver bid')[0]!.attributes['crier.executions'], 4000);
    assert.equal(named('deliver bid')[0]!.attributes['messaging.destination.name'], 'bids');
    assert.doesNotMatch(JSON.stringify(ended()), /hunter2/);
  });

  it('have 16 spans for the backend requests of one execution, and the context for each of them', () => {
    const { trace, named } = createEvent();
    const execution = trace!.startExecution(member())!;
    const headers = Array.from({ length: 100 }, () => {
      const request = execution.startRequest('ratings', 'GET');
      request.end();
      return request.headers['traceparent']!;
    });
    execution.end();
    assert.equal(named('GET ratings').length, 16);
    assert.equal(named('execute bid')[0]!.attributes['crier.backend.requests'], 100);
    for (const header of headers) assert.match(header, new RegExp(`^00-${'a'.repeat(32)}-[0-9a-f]{16}-01$`));
    assert.equal(new Set(headers).size, 17, 'the others continue the execution');
  });

  it('end when the last pending execution has settled and the sockets have taken the results', async () => {
    const { trace, named } = createEvent();
    let isLagging = true;
    const execution = trace!.startExecution(member(() => isLagging))!;
    trace!.onPending();
    trace!.onServed();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    execution.end();
    trace!.onResult();
    trace!.onSettled();
    await waitFor('the execution', () => named('execute bid').length === 1);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(named('deliver bid').length, 0, 'the socket lags');
    isLagging = false;
    await waitFor('the end', () => named('deliver bid').length === 1);
    assert.equal(named('write bid').length, 1);
    assert.equal(named('write bid')[0]!.isError, false);
  });

  it('do not begin beyond the budget', () => {
    assert.equal(createEvent({ perSecond: 0.5 }).trace, undefined);
  });
});
