import assert from 'node:assert/strict';
import { expectClose } from '../../../../src/tools/conformance/answers.ts';
import type { ProbeRow } from './probe-stage.ts';

const INIT = { type: 'connection_init' };

export const initialisationRows: readonly ProbeRow[] = [
  {
    id: 'X-07',
    level: 'REC',
    title: 'waits for connection_init as long as the init timeout says',
    settings: { INIT_TIMEOUT_MS: '400' },
    async run(stage) {
      const openedAt = performance.now();
      await expectClose(await stage.open(), 4408);
      assert.ok(performance.now() - openedAt >= 390, 'not before the timeout');
    },
  },
  {
    id: 'X-15',
    level: 'REC',
    title: 'does not authenticate a second init',
    async run(stage) {
      const probe = stage.probe();
      const socket = await stage.connect();
      socket.send({ ...INIT, payload: { token: probe.token } });
      await expectClose(socket, 4429);
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
