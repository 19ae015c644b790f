import assert from 'node:assert/strict';
import { clientFrame, OPCODE } from '../../support/client-frame.ts';
import { subscribeMessage } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { expectClose, LIVE, LIVE_LATER, next } from './row.ts';
import type { Row } from './row.ts';

export const endingRows: readonly Row[] = [
  {
    id: 'C-52',
    level: 'P',
    title: 'closes with 4400 at text that is not JSON',
    run: (stage) => stage.refuses(4400, ['{', '', 'undefined', '\ufeff{"type":"ping"}', '{"type":"ping"}x']),
  },
  {
    id: 'C-53',
    level: 'P',
    title: 'closes with 4400 at JSON that is not an object',
    run: (stage) => stage.refuses(4400, ['1', '"x"', 'null', '[]', 'true']),
  },
  {
    id: 'C-54',
    level: 'P',
    title: 'closes with 4400 at a type that is missing or unknown',
    run: (stage) =>
      stage.refuses(4400, [{}, ...[0, '', null, 'start', 'nuxt', '__proto__', 'toString'].map((type) => ({ type }))]),
  },
  {
    id: 'C-55',
    level: 'P',
    title: 'closes with 4400 at messages that only a server sends',
    run: (stage) =>
      stage.refuses(4400, [
        { type: 'connection_ack' },
        { type: 'next', id: 'a', payload: { data: { hello: 'world' } } },
        { type: 'error', id: 'a', payload: [{ message: 'x' }] },
      ]),
  },
  {
    id: 'C-57',
    level: 'REC',
    title: 'ignores fields that it does not know',
    async run(stage) {
      const socket = await stage.connect();
      socket.send({ type: 'ping', x: 1 });
      assert.equal((await socket.next()).type, 'pong');
      socket.send({ ...subscribeMessage('a', '{ hello }'), x: { y: 1 } });
      assert.deepEqual(await socket.next(), next('a', { hello: 'world' }));
    },
  },
  {
    id: 'C-59',
    level: 'REC',
    title: 'returns every source once when it closes a socket, and sends nothing more',
    async run(stage) {
      const socket = await stage.connect();
      const probes = [await stage.live(socket, 'a'), await stage.live(socket, 'b')];
      socket.sendTogether({ type: 'nuxt' }, { type: 'ping' });
      assert.equal((await socket.expectClose()).code, 4400);
      for (const probe of probes) {
        await waitFor('return() of the source', () => probe.returns > 0, stage.patienceMs);
        probe.push(1);
      }
      await stage.connect();
      assert.deepEqual(
        probes.map(({ returns }) => returns),
        [1, 1],
      );
      assert.deepEqual(socket.unread, []);
    },
  },
  {
    id: 'C-60',
    level: 'P',
    title: 'disposes of every subscription without a reply when the client closes with 1000',
    async run(stage) {
      const socket = await stage.connect();
      const probes = [await stage.live(socket, 'a'), await stage.live(socket, 'b')];
      socket.close(1000);
      await expectClose(socket, [1000, 1005]);
      for (const probe of probes) await waitFor('return() of the source', () => probe.returns === 1, stage.patienceMs);
    },
  },
  {
    id: 'C-61',
    level: 'REC',
    title: 'closes sockets with 1001 or 1012 at shutdown, without completing their operations',
    settings: { SHUTDOWN_TIMEOUT_MS: '5000' },
    async run(stage) {
      const socket = await stage.connect();
      const idle = await stage.open();
      const probe = await stage.live(socket, 'a');
      const closing = stage.target.close();
      await expectClose(socket, [1001, 1012]);
      await expectClose(idle, [1001, 1012]);
      await closing;
      await waitFor('return() of the source', () => probe.returns === 1, stage.patienceMs);
    },
  },
  {
    id: 'X-40',
    level: 'REC',
    title: 'processes no message after the one for which it closes',
    async run(stage) {
      for (const [bad, code] of [
        [{ type: 'nuxt' }, 4400],
        [{ type: 'connection_init' }, 4429],
      ] as const) {
        const socket = await stage.connect();
        const probe = stage.probe();
        socket.sendTogether(bad, subscribeMessage('a', LIVE, { token: probe.token }));
        await expectClose(socket, code);
        await stage.connect();
        assert.equal(probe.starts, 0);
      }
    },
  },
  {
    id: 'X-41',
    level: 'REC',
    title: 'closes with 4400 at JSON in a binary frame',
    run: (stage) => stage.refuses(4400, [Buffer.from('{"type":"ping"}')]),
  },
  {
    id: 'X-42',
    level: 'P',
    title: 'reassembles a message from fragments and from TCP segments',
    async run(stage) {
      const socket = await stage.connect();
      socket.write(clientFrame('{"type":', { isFinal: false }));
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(clientFrame('"ping"}', { opcode: OPCODE.continuation }));
      assert.equal((await socket.next()).type, 'pong');
      for (const byte of clientFrame('{"type":"ping"}')) socket.write(Buffer.of(byte));
      assert.equal((await socket.next()).type, 'pong');
    },
  },
  {
    id: 'X-43',
    level: 'REC',
    title: 'returns a source whose client disconnected while it was prepared',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      socket.subscribe('a', LIVE_LATER, { token: probe.token });
      await socket.roundTrip();
      socket.terminate();
      await socket.expectClose();
      await stage.connect();
      probe.release();
      const other = await stage.connect();
      await other.roundTrip();
      await waitFor('return() of the source', () => probe.returns === probe.starts, stage.patienceMs);
    },
  },
  {
    id: 'X-44',
    level: 'REC',
    title: 'returns the sources of a client that disconnects without a close frame',
    async run(stage) {
      const socket = await stage.connect();
      const probe = await stage.live(socket, 'a');
      socket.terminate();
      await waitFor('return() of the source', () => probe.returns === 1, stage.patienceMs);
      probe.push(1);
      await stage.connect();
    },
  },
  {
    id: 'X-45',
    level: 'RFC',
    title: 'closes with 1007 at a text frame that is not UTF-8 (S-34)',
    async run(stage) {
      for (const bytes of [[0xc3, 0x28], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xff]]) {
        const socket = await stage.connect();
        socket.write(clientFrame(Buffer.from([0x22, ...bytes, 0x22])));
        await expectClose(socket, 1007, String(bytes));
      }
    },
  },
  {
    id: 'X-46',
    level: 'RFC',
    title: 'closes with 1002 at reserved bits, an unmasked frame and a reserved opcode (S-35)',
    async run(stage) {
      const ping = '{"type":"ping"}';
      for (const broken of [
        { reserved: 4 },
        { reserved: 2 },
        { reserved: 1 },
        { isMasked: false },
        { opcode: 3 },
        { opcode: 11 },
      ]) {
        const socket = await stage.connect();
        socket.write(clientFrame(ping, broken));
        await expectClose(socket, 1002, JSON.stringify(broken));
      }
    },
  },
];
