import assert from 'node:assert/strict';
import { expectClose } from '../../../../src/tools/conformance/answers.ts';
import { subscribeMessage } from '../../../support/socket.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { LIVE, LIVE_LATER } from './probe-stage.ts';
import type { ProbeRow } from './probe-stage.ts';

export const endingRows: readonly ProbeRow[] = [
  {
    id: 'X-39',
    level: 'REC',
    // RFC 8259 lets a parser ignore the mark, so that other servers may accept it.
    title: 'closes with 4400 at JSON behind a byte order mark',
    run: (stage) => stage.refuses(4400, ['\ufeff{"type":"ping"}']),
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
];
