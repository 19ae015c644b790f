import assert from 'node:assert/strict';
import { waitFor } from '../../support/wait-for.ts';
import { expectClose, next } from './row.ts';
import type { Row } from './row.ts';

export const pingRows: readonly Row[] = [
  {
    id: 'C-17',
    level: 'P',
    title: 'answers a ping before init without stopping the init timer',
    settings: { INIT_TIMEOUT_MS: '3000' },
    async run(stage) {
      const socket = await stage.open();
      socket.send({ type: 'ping' });
      assert.equal((await socket.next()).type, 'pong');
      await expectClose(socket, 4408);
    },
  },
  {
    id: 'C-18',
    level: 'P',
    title: 'answers a ping after the ack, beside a running operation',
    async run(stage) {
      const socket = await stage.connect();
      const probe = await stage.live(socket, 'a');
      socket.send({ type: 'ping' });
      assert.equal((await socket.next()).type, 'pong');
      probe.push(1);
      assert.deepEqual(await socket.next(), next('a', { live: { value: 1 } }));
    },
  },
  {
    id: 'C-19',
    level: 'P',
    title: 'answers a ping with a payload by the same payload or none',
    async run(stage) {
      const socket = await stage.connect();
      socket.send({ type: 'ping', payload: { n: 1 } });
      const pong = await socket.next();
      assert.equal(pong.type, 'pong');
      if (pong.payload != null) assert.deepEqual(pong.payload, { n: 1 });
    },
  },
  {
    id: 'C-20',
    level: 'P',
    title: 'ignores an unsolicited pong',
    run: (stage) =>
      stage.ignores([{ type: 'pong' }, { type: 'pong', payload: { n: 1 } }, { type: 'pong', payload: null }]),
  },
  {
    id: 'C-21',
    level: 'P',
    title: 'closes with 4400 when the payload of a ping or pong is not an object',
    run: (stage) =>
      stage.refuses(4400, [
        { type: 'ping', payload: 'x' },
        { type: 'ping', payload: 0 },
        { type: 'ping', payload: [] },
        { type: 'pong', payload: 'x' },
      ]),
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
