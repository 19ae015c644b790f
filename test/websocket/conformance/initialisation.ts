import assert from 'node:assert/strict';
import { expectClose } from './row.ts';
import type { Row } from './row.ts';

const INIT = { type: 'connection_init' };

export const initialisationRows: readonly Row[] = [
  {
    id: 'C-06',
    level: 'P',
    title: 'acknowledges connection_init exactly once',
    async run(stage) {
      const socket = await stage.open();
      await socket.init();
      assert.deepEqual(await socket.roundTrip(), []);
    },
  },
  {
    id: 'C-07',
    level: 'P',
    title: 'accepts a payload that is an object or null',
    async run(stage) {
      for (const payload of [{}, { a: 1 }, null]) {
        const socket = await stage.open();
        socket.send({ ...INIT, payload });
        assert.equal((await socket.next()).type, 'connection_ack', JSON.stringify(payload));
      }
    },
  },
  {
    id: 'C-08',
    level: 'P',
    title: 'closes with 4400 when the payload is not an object',
    async run(stage) {
      for (const payload of ['x', 0, [], true]) {
        const socket = await stage.open();
        socket.send({ ...INIT, payload });
        await expectClose(socket, 4400, JSON.stringify(payload));
      }
    },
  },
  {
    id: 'C-09',
    level: 'P',
    title: 'closes a client that sends nothing with 4408 after the init timeout (S-11)',
    settings: { INIT_TIMEOUT_MS: '400' },
    async run(stage) {
      const openedAt = performance.now();
      const socket = await stage.open();
      const { reason } = await expectClose(socket, 4408);
      assert.equal(reason, 'Connection initialisation timeout');
      assert.ok(performance.now() - openedAt >= 390, 'not before the timeout');
    },
  },
  {
    id: 'C-10',
    level: 'P',
    title: 'closes with 4429 at a second init after the ack, whatever its payload',
    async run(stage) {
      const probe = stage.probe();
      const socket = await stage.connect();
      socket.send({ ...INIT, payload: { token: probe.token } });
      assert.equal((await expectClose(socket, 4429)).reason, 'Too many initialisation requests');
      assert.equal(probe.authentications, 0);
    },
  },
  {
    id: 'C-11',
    level: 'P',
    title: 'closes with 4429 at a second init while the first is being authorised',
    async run(stage) {
      const probe = stage.probe();
      const socket = await stage.open();
      socket.send({ ...INIT, payload: { auth: 'slow', token: probe.token } });
      assert.deepEqual(await socket.roundTrip(), []);
      socket.send(INIT);
      await expectClose(socket, 4429);
      probe.release('auth');
      assert.equal(probe.authentications, 1);
    },
  },
  {
    id: 'C-12',
    level: 'REC',
    title: 'closes with 4408 or 4403 when the authoriser hangs past the authentication timeout',
    settings: { AUTHENTICATION_TIMEOUT_MS: '300' },
    async run(stage) {
      const socket = await stage.open();
      socket.send({ ...INIT, payload: { auth: 'hang' } });
      await expectClose(socket, [4408, 4403]);
    },
  },
  {
    id: 'C-13',
    level: 'P',
    title: 'closes with 4403 and without an ack when the authoriser rejects',
    async run(stage) {
      const socket = await stage.open();
      socket.send({ ...INIT, payload: { auth: 'reject' } });
      assert.equal((await expectClose(socket, 4403)).reason, 'Forbidden');
    },
  },
  {
    id: 'C-14',
    level: 'REC',
    title: 'closes with 4403 and a reason without internals when the authoriser throws',
    async run(stage) {
      const socket = await stage.open();
      socket.send({ ...INIT, payload: { auth: 'throw' } });
      const { reason } = await expectClose(socket, 4403);
      assert.doesNotMatch(reason, /secret|pg:|refused/);
    },
  },
  {
    id: 'C-15',
    level: 'P',
    title: 'sends an ack payload that is an object, or none',
    async run(stage) {
      assert.equal((await (await stage.open()).init()).payload ?? null, null);
      const ack = await (await stage.open()).init({ ack: { session: 's1' } });
      if (stage.hasAckPayload) assert.deepEqual(ack.payload, { session: 's1' });
      else assert.equal(ack.payload ?? null, null);
    },
  },
  {
    id: 'X-06',
    level: 'REC',
    title: 'stays up when a client disconnects while it is authenticated',
    async run(stage) {
      const probe = stage.probe();
      const socket = await stage.open();
      socket.send({ ...INIT, payload: { auth: 'slow', token: probe.token } });
      await socket.roundTrip();
      socket.terminate();
      await socket.expectClose();
      probe.release('auth');
      await stage.connect();
    },
  },
];
