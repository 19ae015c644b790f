import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ResultBytes } from '../../../../src/gateway/fanout/outbox/frame.ts';
import { resultBytesOf, withNotes } from '../../../../src/gateway/fanout/outbox/frame.ts';
import type { Outbox } from '../../../../src/gateway/fanout/outbox/outbox.ts';
import { ResultTimes } from '../../../../src/gateway/fanout/outbox/result-times.ts';
import type { EventTimes } from '../../../../src/gateway/fanout/outbox/result-times.ts';
import { Timing } from '../../../../src/graph/execution/timing.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { reader, stalled, startWebSocketServer } from './outbox-server.ts';
import type { ServerOptions } from './outbox-server.ts';
import { anyOperation } from '../../../support/any-operation.ts';

const OPERATION = anyOperation();

const LARGE = { maxQueueBytes: 64 * 1024 * 1024, maxPodQueueBytes: 2 ** 30 };
const PREFIX = Buffer.from('prefix');

/** A server, and what it has observed. */
async function startObservedServer(t: TestContext, options: ServerOptions = {}) {
  const observed = { latency: 0, wait: 0, execute: 0, write: 0 };
  const last = { latency: NaN, wait: NaN, execute: NaN, write: NaN };
  const of = (name: keyof typeof observed) => ({
    observe: (seconds: number, weight: number) => {
      observed[name] += weight;
      last[name] = seconds;
    },
  });
  const observations = { latency: of('latency'), wait: of('wait'), execute: of('execute'), write: of('write') };
  return { ...(await startWebSocketServer(t, { ...options, observations })), observed, last };
}

/** A result of a timing that executed it and other results. */
function resultOf(text: string, event?: EventTimes, startedAt = 0, endedAt = 1, executions = 1): ResultBytes {
  const timing = new Timing(OPERATION, startedAt, executions);
  timing.endedAt = endedAt;
  return resultBytesOf([Buffer.from(text)], undefined, new ResultTimes(event, timing));
}

const eventNow = (): EventTimes => ({ recordedAt: Date.now(), receivedAt: performance.now() });
const turn = () => new Promise((resolve) => setImmediate(resolve));

for (const hasBatching of [true, false]) {
  describe(hasBatching ? 'Deliveries' : 'Deliveries without batching', () => {
    it('observes a result once, with the number of its messages that sockets accepted', async (t) => {
      const { accept, writer, observed, last } = await startObservedServer(t, { hasBatching });
      const received: string[] = [];
      const outboxes: Outbox[] = [];
      for (let i = 0; i < 20; i++) outboxes.push((await accept(reader(t, received))).outbox);
      const now = performance.now();
      const event = { recordedAt: Date.now() - 5000, receivedAt: now - 400 };
      const result = resultOf('{}', event, now - 300, now - 100, 4);
      for (const outbox of outboxes) outbox.sendParts(PREFIX, result);
      assert.equal(writer.deliveries.count, 0);
      await waitFor('all messages', () => received.length === 20);
      await turn();
      assert.deepEqual(observed, { latency: 20, wait: 20, execute: 20, write: 20 });
      assert.ok(last.latency >= 5 && last.write >= 0.1, JSON.stringify(last));
      assert.ok(Math.abs(last.wait - 0.1) < 1e-9 && Math.abs(last.execute - 0.05) < 1e-9, JSON.stringify(last));
      const { count, bytes, writes } = writer.deliveries;
      assert.deepEqual({ count, bytes, writes }, { count: 20, bytes: 20 * (2 + 'prefix{}}}'.length), writes: 20 });
    });

    it('counts each message, also with notes, and one write for all of a turn only where it batches', async (t) => {
      const { accept, writer, observed } = await startObservedServer(t, { hasBatching });
      const { outbox } = await accept(reader(t, []));
      const event = eventNow();
      for (let i = 0; i < 10; i++) outbox.sendParts(PREFIX, resultOf(`{"data":${i}`, event));
      outbox.sendParts(PREFIX, withNotes(resultOf('{"data":10', event), '"gap":true'));
      await waitFor('the writes', () => writer.deliveries.count > 0);
      assert.deepEqual([writer.deliveries.count, writer.deliveries.writes], [11, hasBatching ? 1 : 11]);
      assert.equal(observed.latency, 11);
    });

    it('counts the result of an event without times, and observes nothing', async (t) => {
      const { accept, writer, observed } = await startObservedServer(t, { hasBatching });
      const { outbox } = await accept(reader(t, []));
      outbox.sendParts(PREFIX, resultOf('{}'));
      await turn();
      assert.equal(writer.deliveries.count, 1);
      assert.deepEqual(observed, { latency: 0, wait: 0, execute: 0, write: 0 });
    });

    it('does not count other messages as deliveries', async (t) => {
      const { accept, writer } = await startObservedServer(t, { hasBatching });
      const { outbox } = await accept(reader(t, []));
      outbox.send('{"type":"connection_ack"}');
      await turn();
      assert.deepEqual([writer.deliveries.count, writer.deliveries.writes], [0, 1]);
    });

    it('observes a message for a backpressured socket when the kernel accepts it', async (t) => {
      const { accept, writer, observed, last } = await startObservedServer(t, { hasBatching, limits: LARGE });
      const peer: { socket?: Socket } = {};
      const { outbox } = await accept(stalled(t, peer));
      let sent = 0;
      const send = () => {
        sent++;
        outbox.sendParts(PREFIX, resultOf('x'.repeat(16_000), eventNow(), performance.now(), performance.now()));
      };
      while (!outbox.isBackpressured) {
        send();
        await turn();
      }
      const acceptedAtOnce = writer.deliveries.count;
      for (let i = 0; i < 100; i++) send();
      const blockedAt = performance.now();
      await turn();
      assert.equal(writer.deliveries.count, acceptedAtOnce);
      assert.equal(observed.latency, acceptedAtOnce);
      while (performance.now() < blockedAt + 20) await turn();
      peer.socket!.resume();
      await waitFor('the queue to leave', () => outbox.queuedBytes === 0);
      assert.equal(writer.deliveries.count, sent);
      assert.deepEqual(observed, { latency: sent, wait: sent, execute: sent, write: sent });
      assert.ok(last.write >= 0.02, `${last.write} s`);
    });

    it('never counts what is dropped with its connection', async (t) => {
      const { accept, writer, observed } = await startObservedServer(t, { hasBatching, limits: LARGE });
      const { outbox, socket } = await accept(stalled(t));
      let sent = 0;
      while (!outbox.isBackpressured) {
        sent++;
        outbox.sendParts(PREFIX, resultOf('x'.repeat(16_000), eventNow()));
        await turn();
      }
      const accepted = writer.deliveries.count;
      socket.terminate();
      await waitFor('the drop', () => outbox.queuedBytes === 0);
      await turn();
      assert.ok(accepted < sent);
      assert.deepEqual([writer.deliveries.count, observed.latency], [accepted, accepted]);
    });

    it('observes what leaves before the turn because the queue is full', async (t) => {
      const limits = { maxQueueBytes: 1000, maxPodQueueBytes: 2 ** 30 };
      const { accept, observed } = await startObservedServer(t, { hasBatching, limits });
      const { outbox } = await accept(reader(t, []));
      outbox.sendParts(PREFIX, resultOf('x'.repeat(2000), eventNow()));
      assert.equal(observed.latency, 1);
    });

    it('takes the time until now for the execution where a full queue is written before the timing ends', async (t) => {
      const limits = { maxQueueBytes: 1000, maxPodQueueBytes: 2 ** 30 };
      const { accept, observed, last } = await startObservedServer(t, { hasBatching, limits });
      const { outbox } = await accept(reader(t, []));
      outbox.sendParts(PREFIX, resultOf('x'.repeat(2000), eventNow(), performance.now() - 500, 0, 5));
      assert.deepEqual(observed, { latency: 1, wait: 1, execute: 1, write: 1 });
      assert.ok(last.execute >= 0.1 && last.execute < 100, `${last.execute} s`);
      assert.equal(last.write, 0);
    });
  });
}
