import assert from 'node:assert/strict';
import { assertError, complete, next } from '../../../../src/tools/conformance/answers.ts';
import { subscribeMessage } from '../../../support/socket.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { LIVE, LIVE_LATER, SLOW, waitForStart } from './probe-stage.ts';
import type { ProbeRow } from './probe-stage.ts';

export const completeRows: readonly ProbeRow[] = [
  {
    id: 'X-37',
    level: 'P',
    title: 'returns the source exactly once at complete',
    async run(stage) {
      const socket = await stage.connect();
      const probe = await stage.live(socket, 'a');
      socket.complete('a');
      assert.deepEqual(await socket.roundTrip(), []);
      assert.equal(probe.returns, 1);
      socket.close(1000);
      await socket.expectClose();
      await stage.connect();
      assert.equal(probe.returns, 1);
    },
  },
  {
    id: 'X-38',
    level: 'P',
    title: 'returns only the old source when complete and a subscribe with the same id come in one segment',
    async run(stage) {
      const socket = await stage.connect();
      const old = await stage.live(socket, 'a');
      const fresh = stage.probe();
      socket.sendTogether({ type: 'complete', id: 'a' }, subscribeMessage('a', LIVE, { token: fresh.token }));
      await waitForStart(socket, fresh, 1);
      assert.equal(old.returns, 1);
      old.push(8);
      for (const value of [1, 2]) {
        fresh.push(value);
        assert.deepEqual(await socket.next(), next('a', { live: { value } }));
      }
      socket.complete('a');
      assert.deepEqual(await socket.roundTrip(), []);
      assert.equal(fresh.returns, 1);
    },
  },
  {
    id: 'C-47',
    level: 'P',
    title: 'sends neither next nor complete for a query that was completed before it resolved',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      socket.subscribe('a', SLOW, { token: probe.token });
      await socket.roundTrip();
      socket.complete('a');
      await socket.roundTrip();
      probe.release();
      assert.deepEqual(await socket.roundTrip(), []);
    },
  },
  {
    id: 'X-31',
    level: 'P',
    title: 'keeps the new operation when the old one with its id was completed while being prepared',
    async run(stage) {
      const socket = await stage.connect();
      const old = stage.probe();
      const fresh = stage.probe();
      socket.sendTogether(
        subscribeMessage('a', LIVE_LATER, { token: old.token }),
        { type: 'complete', id: 'a' },
        subscribeMessage('a', LIVE, { token: fresh.token }),
      );
      assert.deepEqual(await socket.roundTrip(), []);
      old.release();
      await waitForStart(socket, fresh, 1);
      await waitFor('return() of the old source', () => old.starts === old.returns, stage.patienceMs);
      old.push(8);
      fresh.push(1);
      assert.deepEqual(await socket.next(), next('a', { live: { value: 1 } }));
      socket.complete('a');
      assert.deepEqual(await socket.roundTrip(), []);
      assert.equal(fresh.returns, 1);
    },
  },
  {
    id: 'X-32',
    level: 'P',
    title: 'returns a source that was created after its complete',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      socket.sendTogether(subscribeMessage('a', LIVE_LATER, { token: probe.token }), { type: 'complete', id: 'a' });
      assert.deepEqual(await socket.roundTrip(), []);
      probe.release();
      assert.deepEqual(await socket.roundTrip(), []);
      await waitFor('return() of the source', () => probe.returns === probe.starts, stage.patienceMs);
      probe.push(1);
      assert.deepEqual(await socket.roundTrip(), []);
      await stage.live(socket, 'a');
    },
  },
  {
    id: 'X-33',
    level: 'P',
    title: 'either runs or refuses with 4409 a subscribe that follows a failing one with its id in one segment',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      socket.sendTogether(subscribeMessage('a', '{ nothing }'), subscribeMessage('a', LIVE, { token: probe.token }));
      // The client cannot know of the error yet, so a server that has not sent it may call the id taken.
      const answer = await socket.next().catch(() => undefined);
      if (!answer || !socket.isOpen) {
        assert.equal((await socket.expectClose()).code, 4409);
        return;
      }
      assertError(answer, 'a');
      await waitForStart(socket, probe, 1);
      probe.push(1);
      assert.deepEqual(await socket.next(), next('a', { live: { value: 1 } }));
      socket.complete('a');
      assert.deepEqual(await socket.roundTrip(), []);
      assert.equal(probe.returns, 1);
    },
  },
  {
    id: 'X-34',
    level: 'REC',
    title: 'delivers nothing of an event whose execution ends after the complete',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      const query = 'subscription ($t: String!) { live(token: $t) { slow(token: $t) } }';
      socket.subscribe('a', query, { t: probe.token });
      await waitForStart(socket, probe, 1);
      probe.push(1);
      await socket.roundTrip();
      socket.complete('a');
      await socket.roundTrip();
      probe.release('1');
      assert.deepEqual(await socket.roundTrip(), []);
      await waitFor('return() of the source', () => probe.returns === 1, stage.patienceMs);
    },
  },
  {
    id: 'X-35',
    level: 'REC',
    title: 'treats ids that are names of Object.prototype as ordinary ids',
    async run(stage) {
      const socket = await stage.connect();
      for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
        const probe = await stage.live(socket, id);
        probe.push(1);
        assert.deepEqual(await socket.next(), next(id, { live: { value: 1 } }));
        socket.complete(id);
        assert.deepEqual(await socket.roundTrip(), []);
        assert.equal(probe.returns, 1, id);
        socket.subscribe(id, '{ hello }');
        assert.deepEqual(await socket.take(2), [next(id, { hello: 'world' }), complete(id)]);
      }
      await stage.live(socket, '__proto__');
      socket.subscribe('__proto__', '{ hello }');
      assert.equal((await socket.expectClose()).code, 4409);
    },
  },
  {
    id: 'X-36',
    level: 'REC',
    title: 'sends every id back unchanged, with quotes, control characters and Unicode',
    async run(stage) {
      const socket = await stage.connect();
      const ids = [
        '"',
        '\\',
        '\\u0041',
        '\n\t\0',
        '\u2028\u2029',
        'é',
        '漢字',
        '😀',
        '\ud83d',
        '\ufeff',
        ' ',
        '","type":"x',
      ];
      for (const id of ids) {
        socket.subscribe(id, 'subscription { ticks(count: 1) }');
        assert.deepEqual(await socket.take(2), [next(id, { ticks: 1 }), complete(id)]);
      }
    },
  },
];
