import assert from 'node:assert/strict';
import { assertError, expectClose, next } from '../../../../src/tools/conformance/answers.ts';
import { clientFrame, OPCODE } from '../../../../src/tools/conformance/client-frame.ts';
import { subscribeMessage } from '../../../support/socket.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { LIVE, waitForStart } from './probe-stage.ts';
import type { ProbeRow } from './probe-stage.ts';

const PING = { type: 'ping' };
const CLAIMED_BYTES = 100 * 1024 * 1024;

/** A `ping` of exactly this size in bytes. */
function pingOf(bytes: number): string {
  const empty = JSON.stringify({ ...PING, x: '' });
  return JSON.stringify({ ...PING, x: 'x'.repeat(bytes - empty.length) });
}

export const limitRows: readonly ProbeRow[] = [
  {
    id: 'X-50',
    level: 'REC',
    title: 'answers the 101st operation with error OPERATION_LIMIT, and completing one frees a slot (S-29)',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      for (let i = 1; i <= 100; i++) socket.subscribe(`${i}`, LIVE, { token: probe.token });
      await waitForStart(socket, probe, 100);
      socket.subscribe('101', LIVE, { token: probe.token });
      assert.equal(assertError(await socket.next(), '101').code, 'OPERATION_LIMIT');
      socket.complete('7');
      socket.subscribe('102', LIVE, { token: probe.token });
      await waitForStart(socket, probe, 101);
      probe.push(1);
      const ids = (await socket.take(100)).map(({ id }) => Number(id)).sort((a, b) => a - b);
      assert.deepEqual(ids, [...Array.from({ length: 100 }, (_, i) => i + 1).filter((id) => id !== 7), 102]);
    },
  },
  {
    id: 'X-51',
    level: 'REC',
    title: 'runs at most 100 of 1,000 subscribes sent at once, and returns their sources when the socket closes (S-30)',
    settings: { MAX_MESSAGE_BURST: '5000' },
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      socket.sendTogether(
        ...Array.from({ length: 1000 }, (_, i) => subscribeMessage(`${i}`, LIVE, { token: probe.token })),
      );
      for (const message of await socket.take(900)) {
        assert.equal(assertError(message, message.id!).code, 'OPERATION_LIMIT');
      }
      await waitForStart(socket, probe, 100);
      socket.terminate();
      await waitFor('return() of every source', () => probe.returns === 100, stage.patienceMs);
    },
  },
  {
    id: 'X-52',
    level: 'REC',
    title: 'answers an id over 128 bytes, counted as UTF-8, with an error, and the other operations go on',
    async run(stage) {
      const socket = await stage.connect();
      for (const id of ['x'.repeat(128), 'é'.repeat(64)]) {
        socket.subscribe(id, '{ hello }');
        assert.deepEqual(await socket.next(), next(id, { hello: 'world' }));
        await socket.next();
      }
      const probe = await stage.live(socket, 'a');
      for (const id of ['x'.repeat(129), 'é'.repeat(65), 'x'.repeat(1024)]) {
        socket.subscribe(id, '{ hello }');
        const { code, message } = assertError(await socket.next(), id);
        assert.deepEqual([code, message], ['BAD_USER_INPUT', 'id may have 128 bytes']);
        socket.complete(id);
      }
      probe.push(1);
      assert.deepEqual(await socket.next(), next('a', { live: { value: 1 } }));
    },
  },
  {
    id: 'X-53',
    level: 'REC',
    title: 'closes with 4409 at the longest id, too, though the reason must fit into 123 bytes',
    async run(stage) {
      for (const id of ['x'.repeat(128), 'é'.repeat(64), '😀'.repeat(32)]) {
        const socket = await stage.connect();
        await stage.live(socket, id);
        socket.subscribe(id, '{ hello }');
        const { reason } = await expectClose(socket, 4409, id);
        assert.match(reason, /already exists|^Subscriber for /);
        assert.doesNotMatch(reason, /\ufffd/);
      }
    },
  },
  {
    id: 'X-54',
    level: 'REC',
    title: 'accepts a message of MAX_MESSAGE_BYTES and closes with 1009 at one byte more (S-23)',
    settings: { MAX_MESSAGE_BYTES: '65536' },
    async run(stage) {
      const socket = await stage.connect();
      socket.send(pingOf(65_536));
      assert.equal((await socket.next()).type, 'pong');
      socket.send(pingOf(65_537));
      await expectClose(socket, 1009);
    },
  },
  {
    id: 'X-55',
    level: 'REC',
    title: 'closes with 1009 at the header of a huge frame, and at fragments that add up to too much (S-24)',
    settings: { MAX_MESSAGE_BYTES: '65536' },
    async run(stage) {
      const header = await stage.connect();
      const before = process.memoryUsage().arrayBuffers;
      header.write(clientFrame('', { claimedBytes: CLAIMED_BYTES }));
      await expectClose(header, 1009);
      assert.ok(process.memoryUsage().arrayBuffers - before < CLAIMED_BYTES / 2, 'the frame was allocated');
      const fragments = await stage.connect();
      fragments.write(clientFrame('x'.repeat(40_000), { isFinal: false }));
      fragments.write(clientFrame('x'.repeat(40_000), { opcode: OPCODE.continuation }));
      await expectClose(fragments, 1009);
    },
  },
  {
    id: 'X-56',
    level: 'REC',
    title: 'closes with 1008 at a message in 10,000 empty fragments (S-26)',
    async run(stage) {
      const socket = await stage.connect();
      const empty = clientFrame('', { opcode: OPCODE.continuation, isFinal: false });
      socket.write(
        Buffer.concat([
          clientFrame('{"type":', { isFinal: false }),
          ...Array.from({ length: 10_000 }, () => empty),
          clientFrame('"ping"}', { opcode: OPCODE.continuation }),
        ]),
      );
      await expectClose(socket, 1008);
    },
  },
  {
    id: 'X-57',
    level: 'REC',
    title: 'closes with 1008 at a flood of messages over the limit, and answers no more than the limit',
    settings: { MAX_MESSAGES_PER_SECOND: '1', MAX_MESSAGE_BURST: '10' },
    async run(stage) {
      const socket = await stage.connect();
      const begunAt = performance.now();
      socket.sendTogether(...Array.from({ length: 2000 }, () => PING));
      assert.equal((await socket.expectClose()).code, 1008);
      // Ten at once, then one a second.
      const allowed = 10 + Math.ceil((performance.now() - begunAt) / 1000);
      assert.ok(socket.unread.length <= allowed, `${socket.unread.length} pongs, ${allowed} allowed`);
    },
  },
  {
    id: 'X-58',
    level: 'REC',
    title: 'lets a client resubscribe 100 operations at once after a reconnect',
    async run(stage) {
      const socket = await stage.open();
      const probe = stage.probe();
      await socket.init();
      socket.sendTogether(
        ...Array.from({ length: 100 }, (_, i) => subscribeMessage(`${i}`, LIVE, { token: probe.token })),
      );
      await waitForStart(socket, probe, 100);
    },
  },
  {
    id: 'X-59',
    level: 'REC',
    title: 'slows subscribe and complete churn down to the rate, and returns every source (S-31)',
    settings: { MAX_MESSAGES_PER_SECOND: '100', MAX_MESSAGE_BURST: '150', PING_INTERVAL_MS: '2000' },
    async run(stage) {
      const socket = await stage.connect();
      const other = await stage.connect();
      const unharmed = await stage.live(other, 'a');
      const probe = stage.probe();
      const sentAt = performance.now();
      for (let i = 0; i < 1000; i++) {
        socket.sendTogether(subscribeMessage(`${i}`, LIVE, { token: probe.token }), { type: 'complete', id: `${i}` });
      }
      await waitFor('more sources than at once', () => probe.starts > 160, stage.patienceMs);
      const most = 150 + (100 * (performance.now() - sentAt)) / 1000;
      assert.ok(probe.starts <= most, `${probe.starts} sources, where ${most} are allowed`);
      unharmed.push(1);
      assert.deepEqual(await other.next(), next('a', { live: { value: 1 } }));
      // Its socket is not read, so only the pings can tell that it has gone.
      socket.terminate();
      await waitFor('return() of every source', () => probe.returns === probe.starts, stage.patienceMs);
    },
  },
  {
    id: 'X-60',
    level: 'REC',
    title: 'ends a ping flood of a client that does not read (S-32)',
    async run(stage) {
      const socket = await stage.connect();
      socket.pause();
      const pings = Buffer.concat(Array.from({ length: 1000 }, () => clientFrame(JSON.stringify(PING))));
      for (let i = 0; i < 10; i++) socket.write(pings);
      await new Promise((resolve) => setImmediate(resolve));
      socket.resume();
      const { code } = await socket.expectClose();
      assert.ok([1006, 1008, 1013].includes(code), `closed with ${code}`);
      assert.ok(socket.unread.length < 1000, `${socket.unread.length} pongs`);
    },
  },
  {
    id: 'X-61',
    level: 'RFC',
    title: 'ends a flood of ping frames',
    async run(stage) {
      const socket = await stage.connect();
      socket.pause();
      const ping = clientFrame('x'.repeat(125), { opcode: OPCODE.ping });
      socket.write(Buffer.concat(Array.from({ length: 2000 }, () => ping)));
      socket.resume();
      const { code } = await socket.expectClose();
      assert.ok([1006, 1008, 1013].includes(code), `closed with ${code}`);
    },
  },
  {
    id: 'X-62',
    level: 'REC',
    title: 'answers a burst of messages over the limit at the rate of the limit, in order',
    settings: { MAX_MESSAGES_PER_SECOND: '10', MAX_MESSAGE_BURST: '10' },
    async run(stage) {
      const socket = await stage.connect();
      const sentAt = performance.now();
      socket.sendTogether(...Array.from({ length: 40 }, (_, n) => ({ ...PING, payload: { n } })));
      socket.write(clientFrame('', { opcode: OPCODE.ping }));
      const pongs = await socket.take(40);
      assert.deepEqual(
        pongs.map(({ payload }) => payload),
        Array.from({ length: 40 }, (_, n) => ({ n })),
      );
      // 10 at once, of which the connection_init may have been one; the others at 10 a second: a server without the limit is faster on any machine.
      const seconds = (performance.now() - sentAt) / 1000;
      assert.ok(seconds >= 2.95, `40 messages in ${seconds} s`);
      await socket.roundTrip();
    },
  },
  {
    id: 'X-63',
    level: 'REC',
    title: 'answers a subscribe over MAX_MESSAGE_BYTES with an error, and the other operations go on',
    settings: { MAX_MESSAGE_BYTES: '2048' },
    async run(stage) {
      const socket = await stage.connect();
      const probe = await stage.live(socket, 'a');
      const payload = { query: LIVE, variables: { token: 'x'.repeat(4000) } };
      const tooLong = [
        { id: 'b', type: 'subscribe', payload },
        { type: 'subscribe', id: 'é"c', payload },
        { id: 'd', payload, type: 'subscribe' },
        { id: 'x'.repeat(129), type: 'subscribe', payload },
      ];
      for (const message of tooLong) {
        socket.send(message);
        const { code, message: text } = assertError(await socket.next(), message.id);
        assert.deepEqual([code, text], ['BAD_USER_INPUT', 'A message may have 2048 bytes (MAX_MESSAGE_BYTES)']);
      }
      probe.push(1);
      assert.deepEqual(await socket.next(), next('a', { live: { value: 1 } }));
      const closings: readonly [code: number, reason: RegExp, message: object][] = [
        [4409, /already exists/, { id: 'a', type: 'subscribe', payload }],
        [1009, /2048 bytes \(MAX_MESSAGE_BYTES\)/, { id: 'a', type: 'complete', payload }],
        [1009, /2048 bytes \(MAX_MESSAGE_BYTES\)/, { payload, id: 'a', type: 'subscribe' }],
        [1009, /2048 bytes \(MAX_MESSAGE_BYTES\)/, { id: 'x'.repeat(1100), type: 'subscribe', payload }],
      ];
      for (const [code, reason, message] of closings) {
        const other = await stage.connect();
        await stage.live(other, 'a');
        other.send(message);
        assert.match((await expectClose(other, code)).reason, reason);
      }
      const early = await stage.open();
      early.send({ id: 'a', type: 'subscribe', payload });
      assert.match((await expectClose(early, 1009)).reason, /2048 bytes \(MAX_MESSAGE_BYTES\)/);
    },
  },
  {
    id: 'X-64',
    level: 'REC',
    title: 'closes with 4400, and sends nothing back, at an id over 1,024 bytes (S-33)',
    async run(stage) {
      for (const id of ['x'.repeat(1025), 'é'.repeat(513), 'x'.repeat(60_000)]) {
        const socket = await stage.connect();
        socket.subscribe(id, '{ hello }');
        assert.equal((await expectClose(socket, 4400)).reason, 'id may have 128 bytes');
      }
    },
  },
];
