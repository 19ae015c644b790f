import assert from 'node:assert/strict';
import { expectClose } from '../../../../src/tools/conformance/answers.ts';
import { waitFor } from '../../../support/wait-for.ts';
import type { ProbeRow } from './probe-stage.ts';

export const pingRows: readonly ProbeRow[] = [
  {
    id: 'X-25',
    level: 'P',
    title: 'closes with 4408 after the init timeout, though a ping was answered',
    settings: { INIT_TIMEOUT_MS: '3000' },
    async run(stage) {
      const socket = await stage.open();
      socket.send({ type: 'ping' });
      assert.equal((await socket.next()).type, 'pong');
      await expectClose(socket, 4408);
    },
  },
  {
    id: 'X-16',
    level: 'REC',
    title: 'sends the payload of a ping back, if any',
    async run(stage) {
      const socket = await stage.connect();
      socket.send({ type: 'ping', payload: { n: 1 } });
      const { payload } = await socket.next();
      if (payload != null) assert.deepEqual(payload, { n: 1 });
    },
  },
  {
    id: 'C-22',
    level: 'P',
    title: 'keeps a client that answers WebSocket pings and sends nothing else',
    settings: { PING_INTERVAL_MS: '1500' },
    async run(stage) {
      const socket = await stage.connect();
      await waitFor('two WebSocket pings', () => socket.pings >= 2 || !socket.isOpen, stage.patienceMs);
      assert.ok(socket.isOpen);
      // A ping message would need an answer as well, so it tells no more than the ping frame.
      assert.deepEqual(socket.unread, []);
    },
  },
  {
    id: 'C-23',
    level: 'RFC',
    title: 'ends a client that does not answer WebSocket pings, and its operations',
    settings: { PING_INTERVAL_MS: '1000' },
    async run(stage) {
      const socket = await stage.connect({ isAnsweringPings: false });
      const probe = await stage.live(socket, 'a');
      await expectClose(socket, 1006);
      await waitFor('return() of the source', () => probe.returns === 1, stage.patienceMs);
    },
  },
  {
    id: 'X-10',
    level: 'REC',
    title: 'answers a ping with a payload over 1 KiB by a plain pong (S-32)',
    async run(stage) {
      const socket = await stage.connect();
      for (const blob of ['x'.repeat(60_000), 'é'.repeat(600)]) {
        socket.send({ type: 'ping', payload: { blob } });
        assert.deepEqual(await socket.next(), { type: 'pong' });
      }
    },
  },
  {
    id: 'X-14',
    level: 'REC',
    title: 'answers a ping that is nested as deep as a message can be',
    async run(stage) {
      const socket = await stage.open();
      for (const depth of [100, 400, 6000, 32_000]) {
        socket.send(`{"type":"ping","payload":{"x":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
        assert.equal((await socket.next()).type, 'pong', `${depth} levels`);
      }
    },
  },
];
