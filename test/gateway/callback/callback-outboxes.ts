import assert from 'node:assert/strict';
import { errorOf } from '../../../src/base/errors.ts';
import { CallbackFormat } from '../../../src/gateway/callback/callback-format.ts';
import { CallbackOrigin } from '../../../src/gateway/callback/callback-origin.ts';
import { PostOutbox } from '../../../src/gateway/callback/post-outbox.ts';
import { Writer } from '../../../src/gateway/fanout/outbox/writer.ts';
import type { Scope } from '../../support/socket.ts';
import { CallbackRouter } from './callback-router.ts';

/** Opens outboxes whose messages are posted to a router, which hands each to the one that it is for. */
export async function callbackOutboxes(scope: Scope) {
  const outboxes: PostOutbox[] = [];
  // A message that the router has shown to its test may still wait for its status: no outbox posts it again.
  scope.after(() => outboxes.forEach((outbox) => outbox.abandon()));
  const router = await CallbackRouter.start(scope);
  const origin = new CallbackOrigin(new URL(router.url).origin, { timeoutMs: 5000, onPosted: () => undefined });
  scope.after(() => origin.close());
  const writer = new Writer({ maxQueueBytes: 1_000_000, maxPodQueueBytes: 10_000_000 });
  return (id: string, onMessage: (text: string) => void): PostOutbox => {
    const { callbackUrl, verifier } = router.expect(id, ({ text }) => onMessage(text));
    const owner = {
      maxQueueBytes: 1_000_000,
      isConfirmed: true,
      onSlowConsumer: () => assert.fail('a slow consumer'),
      onWriteFailure: (error: unknown) => assert.fail(errorOf(error)),
      onDelivered: () => undefined,
      onUndelivered: ({ text }: { text: string }) => assert.fail(text),
      onFinished: () => undefined,
    };
    const outbox = new PostOutbox(owner, {
      format: new CallbackFormat({ id, verifier }),
      origin,
      path: new URL(callbackUrl).pathname,
      posts: { bytesWritten: 0 },
      writer,
      maxMessages: 1000,
      retryForMs: 1000,
    });
    outboxes.push(outbox);
    return outbox;
  };
}
