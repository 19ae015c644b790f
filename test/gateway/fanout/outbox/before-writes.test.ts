import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { waitFor } from '../../../support/wait-for.ts';
import { LIMITS, reader, stalled, startWebSocketServer } from './outbox-server.ts';
import type { Opened } from './outbox-server.ts';

/** FIN and the opcode of a close, two bytes of payload: the code 4403. */
const CLOSE_FRAME = Buffer.from([0x88, 2, 4403 >> 8, 4403 & 0xff]);

/** What the gateway does with a connection whose token has expired. */
const closes =
  ({ outbox, socket }: Opened) =>
  () => {
    outbox.drop();
    socket.close(4403);
  };

describe('a connection that beforeWrites closes receives no message', () => {
  it('when its socket accepts data again', async (t) => {
    const { accept, writer } = await startWebSocketServer(t);
    const peer: { socket?: Socket } = {};
    const opened = await accept(stalled(t, peer));
    const { outbox } = opened;
    while (!outbox.isBackpressured) {
      outbox.send('x'.repeat(16 * 1024));
      outbox.write();
    }
    outbox.send('the last message');
    writer.beforeWrites = closes(opened);
    const received: Buffer[] = [];
    peer.socket!.on('data', (data) => received.push(data)).resume();
    // Without an answer to the close frame, ws ends the connection after 30 s.
    await waitFor('the close frame', () => Buffer.concat(received).includes(CLOSE_FRAME));
    peer.socket!.end();
    await once(peer.socket!, 'end');
    assert.ok(!Buffer.concat(received).includes('the last message'));
    assert.deepEqual([outbox.queuedBytes, writer.counted, writer.backpressured.size], [0, 0, 0]);
  });

  for (const [bound, limits] of [
    ['its own queue exceeds the bound', { ...LIMITS, maxQueueBytes: 1_000 }],
    ['all queues exceed the bound of the pod', { ...LIMITS, maxPodQueueBytes: 1_000 }],
  ] as const)
    it(`when ${bound}`, async (t) => {
      const { accept, writer } = await startWebSocketServer(t, { limits });
      const received: string[] = [];
      const closed: number[] = [];
      const opened = await accept(reader(t, received, closed));
      writer.beforeWrites = closes(opened);
      const isAccepted = opened.outbox.send('x'.repeat(2_000));
      assert.equal(isAccepted, limits.maxQueueBytes > 2_000);
      assert.equal(opened.socket.readyState, WebSocket.CLOSING);
      assert.equal(opened.outbox.send('more'), false);
      await once(opened.socket, 'close');
      assert.deepEqual([received, closed, opened.slow(), writer.counted], [[], [4403], 0, 0]);
    });
});
