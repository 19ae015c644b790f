import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { errorOf } from '../../../src/base/errors.ts';
import { CallbackFormat } from '../../../src/gateway/callback/callback-format.ts';
import { CallbackOrigin } from '../../../src/gateway/callback/callback-origin.ts';
import { PostOutbox } from '../../../src/gateway/callback/post-outbox.ts';
import { Writer } from '../../../src/gateway/fanout/outbox/writer.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CallbackRouter } from './callback-router.ts';

interface Limits {
  readonly maxMessages?: number;
  readonly retryForMs?: number;
  readonly maxPodQueueBytes?: number;
  readonly timeoutMs?: number;
  readonly isConfirmed?: boolean;
}

/** An outbox, the router that it posts to, and what its owner was told. */
async function start(t: TestContext, limits: Limits = {}) {
  const {
    maxMessages = 10,
    retryForMs = 300,
    maxPodQueueBytes = 1_000_000,
    timeoutMs = 5000,
    isConfirmed = true,
  } = limits;
  const router = await CallbackRouter.start(t);
  const writer = new Writer({ maxQueueBytes: 100_000, maxPodQueueBytes });
  const told: string[] = [];
  const owner = {
    maxQueueBytes: 100_000,
    isConfirmed,
    onSlowConsumer: () => void told.push('slow'),
    onWriteFailure: (error: unknown) => assert.fail(errorOf(error)),
    onDelivered: () => undefined,
    onUndelivered: ({ result, text }: { result: string; text: string }) => void told.push(`${result}: ${text}`),
    onFinished: () => void told.push('finished'),
  };
  const origin = new CallbackOrigin(new URL(router.url).origin, { timeoutMs, onPosted: () => undefined });
  t.after(() => origin.close());
  const subscription = router.expect('1');
  const format = new CallbackFormat(subscription);
  const path = '/callback/1';
  const posts = { bytesWritten: 0 };
  const outbox = new PostOutbox(owner, { format, origin, path, posts, writer, maxMessages, retryForMs });
  /** Posts a result. */
  const send = (seq: number, text = '') => outbox.send(format.next('', { data: { seq, text } }));
  const seqs = () => subscription.payloads.map(({ data }) => (data as { seq: number }).seq);
  return { router, writer, outbox, format, subscription, send, seqs, told };
}

describe('an outbox of posts', () => {
  it('counts its bytes until the router has accepted them, and lags while one waits for another', async (t) => {
    const { router, writer, outbox, send, seqs } = await start(t);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    router.answer = () => released.then(() => undefined);
    send(1);
    await waitFor('its post', () => router.posts.length === 1);
    assert.equal(outbox.isBackpressured, false);
    assert.deepEqual([...writer.backpressured], [outbox]);
    assert.ok(outbox.queuedBytes > 0);
    send(2);
    assert.equal(outbox.isBackpressured, true);
    assert.deepEqual([...writer.backpressured], [outbox]);
    release();
    await waitFor('both', () => outbox.queuedBytes === 0);
    assert.deepEqual(seqs(), [1, 2]);
    assert.equal(writer.backpressured.size, 0);
  });

  it('drops what waits, also what it would post again, and posts what follows', async (t) => {
    const { router, outbox, format, send, subscription, told } = await start(t, { retryForMs: 10_000 });
    router.answer = ({ action }) => (action === 'next' ? 503 : undefined);
    for (const seq of [1, 2, 3]) send(seq);
    await waitFor('a post', () => router.posts.length === 2);
    outbox.drop();
    outbox.send(format.closing(4403, 'Token expired'));
    outbox.finish();
    const { errors } = await subscription.completed();
    assert.equal(errors![0]!.message, 'Token expired');
    await waitFor('its end', () => told.includes('finished'));
    assert.deepEqual(told, ['finished']);
    assert.equal(subscription.payloads.length, 0);
    assert.equal(outbox.queuedBytes, 0);
  });

  it('posts no more of a message that was dropped while it was posted in vain', async (t) => {
    const { router, outbox, format, send, subscription, told } = await start(t);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    router.answer = ({ action }) => (action === 'next' ? released.then(() => 503) : undefined);
    send(1);
    await waitFor('its post', () => router.posts.length === 1);
    outbox.drop();
    outbox.send(format.complete());
    outbox.finish();
    release();
    await subscription.completed();
    await waitFor('its end', () => told.length > 0);
    assert.equal(router.posts.length, 2);
    assert.deepEqual(told, ['finished']);
  });

  it('tells its owner once it has posted a message in vain for its time, and goes on with what its owner leaves', async (t) => {
    const { router, send, told } = await start(t, { retryForMs: 250 });
    router.answer = () => 503;
    send(1);
    await waitFor('the end of its patience', () => told.length > 0);
    assert.deepEqual(told, ['unreachable: status 503']);
    assert.ok(router.posts.length >= 3);
  });

  it('takes an answer that does not come, and a closed port, for an unreachable router', async (t) => {
    const { router, send, told } = await start(t, { retryForMs: 0, timeoutMs: 1000 });
    router.answer = () => new Promise(() => {});
    send(1);
    await waitFor('the timeout', () => told.length === 1, 10_000);
    router.close();
    send(2);
    await waitFor('the refusal', () => told.length === 2, 10_000);
    assert.deepEqual(told, ['unreachable: UND_ERR_HEADERS_TIMEOUT', 'unreachable: ECONNREFUSED']);
  });

  it('is a slow consumer with more messages than may wait', async (t) => {
    const { router, send, told } = await start(t, { maxMessages: 2 });
    router.answer = () => new Promise(() => {});
    assert.ok(send(1));
    await waitFor('its post', () => router.posts.length === 1);
    assert.ok(send(2) && send(3));
    assert.equal(send(4), false);
    assert.deepEqual(told, ['slow']);
  });

  it('is the slow consumer of a pod whose queues are full', async (t) => {
    const { router, send, told, writer } = await start(t, { maxPodQueueBytes: 1000 });
    router.answer = () => new Promise(() => {});
    send(1);
    await waitFor('its post', () => router.posts.length === 1);
    send(2, 'x'.repeat(2000));
    assert.deepEqual(told, ['slow']);
    assert.equal(writer.backpressured.size, 0);
  });

  for (const [what, status] of [
    ['its only message is being posted', undefined],
    ['its only message waits to be posted again', 503],
  ] as const)
    it(`is that slow consumer, and no other is, while ${what}`, async (t) => {
      const { router, outbox, send, told, writer } = await start(t, { maxPodQueueBytes: 1000, retryForMs: 10_000 });
      const other = {
        queuedBytes: 100,
        blockedSince: 0,
        onTurn: () => undefined,
        refuse: () => assert.fail('another'),
      };
      writer.backpressured.add(other);
      writer.count(other.queuedBytes);
      router.answer = () => status ?? new Promise(() => {});
      send(1, 'x'.repeat(500));
      await waitFor('its post', () => router.posts.length === 1);
      writer.count(500);
      writer.keepBound();
      assert.deepEqual(told, ['slow']);
      assert.deepEqual([outbox.queuedBytes, [...writer.backpressured]], [0, [other]]);
    });

  it('loses what waits if it is finishing and the queues of the pod are full', async (t) => {
    const { router, outbox, send, told, writer } = await start(t, { maxPodQueueBytes: 3000, retryForMs: 10_000 });
    router.answer = () => 503;
    send(1, 'x'.repeat(2000));
    await waitFor('its post', () => router.posts.length === 1);
    outbox.finish();
    writer.count(1000);
    writer.keepBound();
    assert.equal(outbox.queuedBytes, 0);
    await waitFor('its end', () => told.length > 0);
    assert.deepEqual(told, ['finished']);
  });

  it('repeats no post until its router has accepted one', async (t) => {
    const { router, outbox, told } = await start(t, { retryForMs: 10_000, isConfirmed: false });
    router.answer = () => 503;
    outbox.check();
    await waitFor('the end of its patience', () => told.length > 0);
    assert.deepEqual(told, ['unreachable: status 503']);
    assert.equal(router.posts.length, 1);
  });
});
