import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { Deflater } from '../../../../src/gateway/fanout/outbox/deflater.ts';
import { ResultBytes } from '../../../../src/gateway/fanout/outbox/frame.ts';
import { LIMITS, reader, stalled, startWebSocketServer } from './outbox-server.ts';
import type { ServerOptions } from './outbox-server.ts';
import { waitFor } from '../../../support/wait-for.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `message ${i}`);

for (const hasBatching of [true, false]) {
  describe(hasBatching ? 'Outbox' : 'Outbox without batching', () => {
    const openServer = (t: TestContext, options: Omit<ServerOptions, 'hasBatching'> = {}) =>
      startWebSocketServer(t, { ...options, hasBatching });

    it('delivers in order to a peer that reads', async (t) => {
      const received: string[] = [];
      const { accept, writer } = await openServer(t);
      const { outbox, slow } = await accept(reader(t, received));
      const expected = numbered(2000).map((text, i) => text.padEnd((i * 37) % 3000, '.'));
      for (const [i, message] of expected.entries()) {
        assert.equal(outbox.send(message), true);
        if (i % 40 === 0) await turn();
      }
      const large = 'x'.repeat(200_000);
      outbox.send(large);
      outbox.send('the end');
      await waitFor('all messages', () => received.length === expected.length + 2);
      assert.deepEqual(received, [...expected, large, 'the end']);
      assert.equal(slow(), 0);
      await waitFor('an empty queue', () => outbox.queuedBytes === 0);
      assert.deepEqual([writer.counted, writer.backpressured.size], [0, 0]);
    });

    it('delivers compressed messages and others in order to a stock client, among frames of ws, and counts the bytes written', async (t) => {
      const received: string[] = [];
      const deflater = new Deflater(100);
      const { accept, writer } = await openServer(t, { deflater });
      const { outbox, socket, stream } = await accept(reader(t, received));
      const atFirst = stream.bytesWritten;
      const expected: string[] = [];
      let frames = 0;
      for (let i = 0; i < 300; i++) {
        const text = `${i} is repeated `.repeat((i * 13) % 90);
        const result = new ResultBytes([Buffer.from(text)]);
        result.isShared = i % 3 !== 0;
        const prefix = Buffer.from(`${i % 7}`.repeat(i % 40));
        const before = outbox.queuedBytes;
        assert.equal(outbox.sendParts(prefix, result), true);
        frames += outbox.queuedBytes - before;
        expected.push(prefix.toString() + text);
        if (i % 20 === 0) await turn();
      }
      await waitFor('all messages', () => received.length === expected.length);
      assert.deepEqual(received, expected);
      await waitFor('an empty queue', () => outbox.queuedBytes === 0);
      assert.equal(stream.bytesWritten - atFirst, frames);
      assert.deepEqual([writer.counted, writer.deliveries.bytes], [0, frames]);
      socket.ping();
      outbox.send('the end');
      await waitFor('the end', () => received.length === expected.length + 1);
    });

    it('bounds the queue of a peer that does not read by compressed bytes', async (t) => {
      const deflater = new Deflater(100);
      const { accept, writer } = await openServer(t, { deflater });
      const { outbox, slow } = await accept(stalled(t));
      const incompressible = new ResultBytes([randomBytes(64 * 1024)]);
      while (!outbox.isBackpressured) {
        outbox.sendParts(Buffer.alloc(0), incompressible);
        outbox.write();
      }
      const result = new ResultBytes([Buffer.alloc(100_000, 'x')]);
      result.isShared = true;
      const before = outbox.queuedBytes;
      for (let i = 0; i < 100; i++) assert.equal(outbox.sendParts(Buffer.alloc(0), result), true);
      assert.ok(outbox.queuedBytes - before < 100 * 2000, `${outbox.queuedBytes - before} bytes`);
      assert.equal(slow(), 0);
      outbox.refuse();
      assert.equal(writer.counted, 0);
    });

    it('is not a slow consumer if one turn exceeds the bound for a peer that reads', async (t) => {
      const { accept } = await openServer(t, { limits: { maxQueueBytes: 20_000, maxPodQueueBytes: 2 ** 30 } });
      const received: string[] = [];
      const { outbox, slow } = await accept(reader(t, received));
      const expected = numbered(40).map((text) => text.padEnd(2000, '.'));
      for (const message of expected) assert.equal(outbox.send(message), true);
      await waitFor('all messages', () => received.length === 40);
      assert.deepEqual([received, slow()], [expected, 0]);
    });

    it('keeps its frames whole and in order among the frames of ws, with the close frame last', async (t) => {
      const { accept } = await openServer(t);
      const received: string[] = [];
      const closed: number[] = [];
      const { outbox, socket } = await accept(reader(t, received, closed));
      for (const [i, message] of numbered(500).entries()) {
        outbox.send(message.padEnd(i * 10, '.'));
        if (i % 3 === 0) socket.ping('x'.repeat(i % 100));
        if (i % 50 === 0) await turn();
      }
      outbox.flush();
      socket.close(4400, 'done');
      assert.equal(outbox.send('too late'), false);
      await waitFor('the close', () => closed.length === 1);
      assert.deepEqual(closed, [4400]);
      assert.deepEqual(
        received.map((text) => text.replace(/\.+$/, '')),
        numbered(500),
      );
    });

    it('keeps the order of messages for a peer that stops reading for a while', async (t) => {
      const { accept } = await openServer(t, {
        limits: { maxQueueBytes: 64 * 1024 * 1024, maxPodQueueBytes: 2 ** 30 },
      });
      const received: string[] = [];
      let client!: WebSocket;
      const { outbox, socket } = await accept((port) => {
        client = new WebSocket(`ws://127.0.0.1:${port}`);
        client.on('message', (data: Buffer) => received.push(data.toString().replace(/\.+$/, '')));
        client.on('ping', (data: Buffer) => received.push(`ping ${data.toString()}`));
        client.on('open', () => client.pause());
        t.after(() => client.terminate());
      });
      const expected: string[] = [];
      for (let i = 0, behind = 0; behind < 50; i++) {
        assert.ok(i < 100_000, 'it was never behind');
        outbox.send(`message ${i}`.padEnd((i * 97) % 40_000, '.'));
        expected.push(`message ${i}`);
        await turn();
        if (!outbox.isBackpressured) continue;
        behind++;
        socket.ping(`${behind}`);
      }
      client.resume();
      await waitFor('all messages', () => received.length === expected.length + 50);
      assert.deepEqual(
        received.filter((text) => text.startsWith('message')),
        expected,
      );
      assert.deepEqual(
        received.filter((text) => text.startsWith('ping')),
        Array.from({ length: 50 }, (_, i) => `ping ${i + 1}`),
      );
      await waitFor('an empty queue', () => outbox.queuedBytes === 0);
    });

    it('survives a peer that resets the connection during writes', async (t) => {
      const { accept, writer } = await openServer(t);
      const peer: { socket?: Socket } = {};
      const { outbox, socket } = await accept(stalled(t, peer));
      peer.socket!.resetAndDestroy();
      for (let i = 0; socket.readyState === WebSocket.OPEN; i++) {
        assert.ok(i < 10_000, 'the reset was never seen');
        outbox.send('x'.repeat(1000));
        outbox.write();
        if (i % 10 === 0) await turn();
      }
      await waitFor('an empty queue', () => outbox.queuedBytes === 0);
      assert.deepEqual([writer.counted, writer.backpressured.size], [0, 0]);
    });

    it('reports a write that throws to the owner of that connection only, and writes to the others', async (t) => {
      const { accept, writer } = await openServer(t);
      const received: string[] = [];
      const closed: number[] = [];
      const first = await accept(reader(t, received));
      const broken = await accept(reader(t, [], closed));
      const last = await accept(reader(t, received));
      const failure = new Error('of the stream');
      broken.stream._write = broken.stream._writev = () => {
        throw failure;
      };
      for (const { outbox } of [first, broken, last]) outbox.send('message');
      await waitFor('the other connections', () => received.length === 2);
      assert.deepEqual([first.failures, broken.failures, last.failures], [[], [failure], []]);
      await waitFor('the end of the connection', () => closed.length === 1);
      await waitFor('an empty queue', () => writer.counted === 0);
      broken.outbox.flush();
      assert.equal(broken.outbox.send('more'), false);
      assert.equal(broken.failures.length, 1);
    });

    it('reports a flush that throws', async (t) => {
      const { accept, writer } = await openServer(t);
      const { outbox, stream, failures } = await accept(stalled(t));
      while (!outbox.isBackpressured) {
        outbox.send('x'.repeat(16 * 1024));
        await turn();
      }
      outbox.send('message');
      const failure = new Error('of the stream');
      stream.write = () => {
        throw failure;
      };
      outbox.flush();
      assert.deepEqual(failures, [failure]);
      assert.equal(writer.counted, 0);
    });

    it('reports a slow consumer once when the bound is exceeded, and accepts no further messages', async (t) => {
      const limits = { ...LIMITS, maxQueueBytes: 300 * 1024 };
      const { accept, writer } = await openServer(t, { limits });
      const { socket, outbox, slow } = await accept(stalled(t));
      const result = new ResultBytes([Buffer.alloc(64 * 1024, 'x')]);
      let sent = 0;
      while (outbox.sendParts(Buffer.alloc(0), result)) {
        assert.ok(outbox.queuedBytes <= limits.maxQueueBytes);
        assert.equal(slow(), 0, 'refused before the bound');
        assert.ok(++sent < 10_000, 'the bound was never reached');
      }
      outbox.refuse();
      assert.equal(slow(), 1);
      assert.equal(socket.readyState, WebSocket.CLOSING);
      for (let i = 0; i < 100; i++) assert.equal(outbox.sendParts(Buffer.alloc(0), result), false);
      assert.equal(slow(), 1);
      assert.deepEqual([outbox.queuedBytes, writer.counted, writer.backpressured.size], [0, 0, 0]);
      assert.ok(socket.bufferedAmount < 2 * result.length, `${socket.bufferedAmount} bytes wait in the socket`);
    });

    it('queues four messages of the largest size, even if they exceed the bound', async (t) => {
      const { accept, writer } = await openServer(t, { limits: { maxQueueBytes: 1024, maxPodQueueBytes: 2 ** 30 } });
      const { outbox, slow } = await accept(stalled(t));
      const filler = new ResultBytes([Buffer.alloc(200, 'x')]);
      while (!outbox.isBackpressured) {
        outbox.sendParts(Buffer.alloc(0), filler);
        outbox.write();
      }
      const result = new ResultBytes([Buffer.alloc(900_000, 'x')]);
      // The fillers that the kernel has not accepted count, too.
      for (let i = 0; i < 3; i++) assert.equal(outbox.sendParts(Buffer.alloc(0), result), true);
      assert.ok(outbox.queuedBytes > 3 * result.length);
      while (outbox.sendParts(Buffer.alloc(0), filler)) assert.ok(outbox.queuedBytes <= 4 * (result.length + 10));
      assert.equal(slow(), 1);
      assert.equal(writer.counted, 0);
    });

    it('joins the pieces of a result for a backpressured socket, once for all connections', async (t) => {
      const { accept } = await openServer(t, {
        limits: { maxQueueBytes: 64 * 1024 * 1024, maxPodQueueBytes: 2 ** 30 },
      });
      const { outbox } = await accept(stalled(t));
      const filler = new ResultBytes([Buffer.alloc(64 * 1024, 'x')]);
      while (!outbox.isBackpressured) {
        outbox.sendParts(Buffer.alloc(0), filler);
        outbox.write();
      }
      const shared = new ResultBytes(Array.from({ length: 33 }, () => Buffer.from('12')));
      assert.equal(shared.whole, shared.whole);
      assert.deepEqual(shared.whole.pieces, [Buffer.from('12'.repeat(33))]);
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      collect();
      const before = process.memoryUsage();
      for (let i = 0; i < 20_000; i++) {
        outbox.sendParts(Buffer.alloc(0), new ResultBytes(Array.from({ length: 33 }, () => Buffer.from('12'))));
      }
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      const grown = heapUsed - before.heapUsed + arrayBuffers - before.arrayBuffers;
      // Unjoined pieces would take 33 Buffers of 100 bytes each: 66 MB.
      assert.ok(grown < 20e6, `${(grown / 1e6).toFixed(1)} MB for 1.3 MB`);
    });

    it('keeps no scratch memory beyond the unread messages of peers that do not read', async (t) => {
      const { accept, writer } = await openServer(t, {
        limits: { maxQueueBytes: 1024 ** 2, maxPodQueueBytes: 1024 ** 3 },
      });
      const peers = await Promise.all(Array.from({ length: 40 }, () => accept(stalled(t))));
      const result = new ResultBytes([Buffer.alloc(2000, 'x')]);
      const before = process.memoryUsage().arrayBuffers;
      for (const { outbox } of peers) {
        while (!outbox.isBackpressured) {
          outbox.sendParts(Buffer.alloc(0), result);
          outbox.write();
        }
      }
      const grown = process.memoryUsage().arrayBuffers - before;
      assert.ok(grown < 4 * writer.counted, `${grown} bytes for ${writer.counted}`);
    });

    it('copies nothing for a backpressured socket, delays no other connection, and continues when the peer reads again', async (t) => {
      const { accept } = await openServer(t, {
        limits: { maxQueueBytes: 64 * 1024 * 1024, maxPodQueueBytes: 2 ** 30 },
      });
      const peer: { socket?: Socket } = {};
      const lagging = await accept(stalled(t, peer));
      const received: string[] = [];
      const healthy = await accept(reader(t, received));
      const result = new ResultBytes([Buffer.alloc(16 * 1024, 'x')]);
      while (!lagging.outbox.isBackpressured) {
        lagging.outbox.sendParts(Buffer.alloc(0), result);
        await turn();
      }
      const before = process.memoryUsage().arrayBuffers;
      for (let i = 0; i < 2000; i++) lagging.outbox.sendParts(Buffer.alloc(0), result);
      healthy.outbox.send('hello');
      await waitFor('the healthy peer', () => received.length === 1);
      assert.ok(lagging.outbox.queuedBytes > 2000 * result.length);
      assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024, 'copies were made');
      peer.socket!.resume();
      await waitFor('the queued messages to leave', () => lagging.outbox.queuedBytes === 0);
      assert.equal(lagging.slow(), 0);
    });

    it('writes on after a ping that waits for an earlier write', async (t) => {
      const { accept } = await openServer(t);
      const peer: { socket?: Socket } = {};
      const { outbox, socket, slow } = await accept(stalled(t, peer));
      while (!outbox.isBackpressured) {
        outbox.send('x'.repeat(16 * 1024));
        await turn();
      }
      socket.ping();
      outbox.send('after the ping');
      peer.socket!.resume();
      await waitFor('the queued messages to leave', () => outbox.queuedBytes === 0);
      assert.equal(slow(), 0);
    });

    for (const [what, size] of [
      ['small', 2_000],
      ['large', 60_000],
    ] as const) {
      it(`does not overwrite ${what} frames that the kernel has not accepted`, async (t) => {
        const limits = { maxQueueBytes: 2 ** 30, maxPodQueueBytes: 2 ** 30 };
        const { accept } = await openServer(t, { limits });
        const peer: { socket?: Socket } = {};
        const lagging = await accept(stalled(t, peer));
        const received: string[] = [];
        const healthy = await accept(reader(t, received));
        const [own, other] = ['o', 'f'].map((letter) => new ResultBytes([Buffer.alloc(size, letter)]));
        let sent = 0;
        while (!lagging.outbox.isBackpressured) {
          lagging.outbox.sendParts(Buffer.alloc(0), own!);
          lagging.outbox.write();
          sent++;
        }
        // Frames of the same size use the same scratch memory.
        for (let i = 1; i <= 20; i++) {
          healthy.outbox.sendParts(Buffer.alloc(0), other!);
          healthy.outbox.write();
          await waitFor('the healthy peer', () => received.length === i);
        }
        const chunks: Buffer[] = [];
        peer.socket!.on('data', (chunk: Buffer) => chunks.push(chunk));
        peer.socket!.resume();
        await waitFor('the queued messages to leave', () => !lagging.outbox.isBackpressured);
        const expected = sent * (size + 4);
        let bytes = Buffer.alloc(0);
        await waitFor('all frames', () => {
          const all = Buffer.concat(chunks);
          bytes = all.subarray(all.indexOf('\r\n\r\n') + 4);
          return bytes.length === expected;
        });
        assert.equal(bytes.indexOf('f'), -1, 'bytes of the healthy connection');
        for (let i = 0; i < sent; i++) {
          const frame = bytes.subarray(i * (size + 4), (i + 1) * (size + 4));
          assert.ok(frame.subarray(4).equals(own!.pieces[0]!), `frame ${i}`);
        }
      });
    }

    it('writes after frames of ws that wait in the stream', async (t) => {
      const { accept } = await openServer(t);
      const peer: { socket?: Socket } = {};
      const { outbox, socket, stream } = await accept(stalled(t, peer));
      const pings = Array.from({ length: 3 }, (_, i) => Buffer.alloc(125, String(i)));
      while (stream.writableLength === 0) socket.send('x'.repeat(60_000));
      for (const ping of pings) socket.ping(ping);
      assert.equal(outbox.isBackpressured, false);
      outbox.send('after the pings');
      outbox.write();
      const chunks: Buffer[] = [];
      peer.socket!.on('data', (chunk: Buffer) => chunks.push(chunk));
      peer.socket!.resume();
      await waitFor('the message', () => Buffer.concat(chunks).includes('after the pings'));
      const bytes = Buffer.concat(chunks);
      const order = [...pings, 'after the pings'].map((part) => bytes.indexOf(part));
      assert.deepEqual(
        order,
        [...order].sort((one, other) => one - other),
      );
      assert.ok(!order.includes(-1));
    });

    it('closes the connection with the largest queue first when all queues exceed the bound of the pod', async (t) => {
      const limits = { maxQueueBytes: 1024 * 1024, maxPodQueueBytes: 1024 * 1024 };
      const { accept, writer } = await openServer(t, { limits });
      const peers = [await accept(stalled(t)), await accept(stalled(t)), await accept(stalled(t))];
      for (const { outbox } of peers) {
        while (!outbox.isBackpressured) {
          outbox.send('x'.repeat(16 * 1024));
          await turn();
        }
      }
      const [small, large, middle] = peers;
      const prefix = Buffer.alloc(1024, 'x');
      const result = new ResultBytes([prefix]);
      for (let i = 0; i < 50; i++) small!.outbox.sendParts(prefix, result);
      for (let i = 0; i < 250; i++) large!.outbox.sendParts(prefix, result);
      let sent = 0;
      while (large!.slow() === 0) {
        middle!.outbox.sendParts(prefix, result);
        assert.ok(++sent < 1000, 'the bound was never reached');
      }
      assert.deepEqual([small!.slow(), large!.slow(), middle!.slow()], [0, 1, 0]);
      assert.ok(writer.counted <= limits.maxPodQueueBytes);
    });

    it('writes to 300 connections in slices, each in order', async (t) => {
      const { accept } = await openServer(t);
      const peers = [];
      for (let i = 0; i < 300; i++) {
        const received: string[] = [];
        peers.push({ received, ...(await accept(reader(t, received))) });
      }
      for (const message of numbered(20)) for (const { outbox } of peers) outbox.send(message.padEnd(2000, '.'));
      for (const { received } of peers) await waitFor('all messages', () => received.length === 20);
      for (const { received } of peers) assert.deepEqual(received.map((text) => text.replace(/\.+$/, '')), numbered(20)); // prettier-ignore
    });
  });
}

describe('Outbox with batching', () => {
  it('writes the messages of one turn in one write, at its end', async (t) => {
    const { accept } = await startWebSocketServer(t);
    const received: string[] = [];
    const { outbox, stream } = await accept(reader(t, received));
    let writes = 0;
    const write = stream._write.bind(stream);
    stream._write = (...rest) => {
      writes++;
      write(...rest);
    };
    for (const message of numbered(20)) outbox.send(message);
    assert.equal(writes, 0);
    await turn();
    assert.equal(writes, 1);
    await waitFor('all messages', () => received.length === 20);
    assert.deepEqual(received, numbered(20));
  });

  it('writes a ping in one write with the messages of its turn, in their order', async (t) => {
    const { writer, accept } = await startWebSocketServer(t);
    const received: string[] = [];
    const { socket, outbox } = await accept((port) => {
      const client = new WebSocket(`ws://127.0.0.1:${port}`);
      client.on('message', (data: Buffer) => received.push(data.toString()));
      client.on('ping', (data) => received.push(`ping ${data.toString()}`));
      t.after(() => client.terminate());
    });
    const pongs: string[] = [];
    socket.on('pong', (data) => pongs.push(data.toString()));
    for (const marks of [['a'], ['b', 'c']]) {
      const { writes } = writer.deliveries;
      // As long as a ping: its memory is used again.
      outbox.send('one');
      for (const mark of marks) outbox.sendPing(mark.repeat(3));
      outbox.send('two');
      await waitFor('the pongs', () => pongs.at(-1) === marks.at(-1)!.repeat(3));
      assert.equal(writer.deliveries.writes, writes + 1);
      assert.deepEqual(received.splice(0), ['one', ...marks.map((mark) => `ping ${mark.repeat(3)}`), 'two']);
      outbox.send('one');
      marks.forEach(() => outbox.send('mid'));
      outbox.send('two');
      await waitFor('the messages', () => received.length === marks.length + 2);
      assert.deepEqual(received.splice(0), ['one', ...marks.map(() => 'mid'), 'two']);
    }
    assert.equal(writer.counted, 0);
  });

  it('writes up to 64 KiB at once, and a larger message in pieces without a copy', async (t) => {
    const { accept } = await startWebSocketServer(t);
    const received: string[] = [];
    const { outbox, stream } = await accept(reader(t, received));
    const written: Buffer[] = [];
    const [write, _write] = [stream.write.bind(stream), stream._write.bind(stream)];
    stream.write = ((chunk: Buffer, ...rest: [() => void]) => (written.push(chunk), write(chunk, ...rest))) as never;
    stream._write = (chunk: Buffer, ...rest) => (written.push(chunk), _write(chunk, ...rest));
    const half = 'x'.repeat(32 * 1024 - 4);
    for (const [last, lengths] of [
      ['', [64 * 1024]],
      ['y', [32 * 1024, 32 * 1024 + 1]],
    ] as const) {
      written.length = 0;
      outbox.send(half);
      outbox.send(half + last);
      outbox.write();
      assert.deepEqual(written.map(({ length }) => length), lengths); // prettier-ignore
    }
    const large = new ResultBytes([Buffer.alloc(40_000, 'a'), Buffer.alloc(40_000, 'b')]);
    outbox.sendParts(Buffer.from('prefix'), large);
    outbox.write();
    for (const piece of large.pieces) assert.ok(written.includes(piece));
    await waitFor('all messages', () => received.length === 5);
    assert.equal(received[4], `prefix${'a'.repeat(40_000)}${'b'.repeat(40_000)}`);
  });
});

describe('Outbox without batching, as with ws', () => {
  it('hands each message to the kernel by itself, at the end of the turn', async (t) => {
    const { accept } = await startWebSocketServer(t, { hasBatching: false });
    const received: string[] = [];
    const { outbox, stream } = await accept(reader(t, received));
    const written: string[] = [];
    const writev = stream._writev!.bind(stream);
    stream._writev = (chunks, callback) => {
      written.push(
        Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer))
          .subarray(2)
          .toString(),
      );
      writev(chunks, callback);
    };
    stream._write = () => assert.fail('a part of a message was written by itself');
    for (const message of numbered(20)) outbox.send(message);
    outbox.sendParts(Buffer.from('prefix'), new ResultBytes([Buffer.from(' one'), Buffer.from(' two')]));
    assert.deepEqual(written, []);
    await turn();
    assert.deepEqual(written, [...numbered(20), 'prefix one two']);
    await waitFor('all messages', () => received.length === 21);
    assert.deepEqual(received, written);
  });

  it('queues the messages after the first one that the kernel does not accept', async (t) => {
    const limits = { maxQueueBytes: 64 * 1024 * 1024, maxPodQueueBytes: 2 ** 30 };
    const { accept, writer } = await startWebSocketServer(t, { limits, hasBatching: false });
    const peer: { socket?: Socket } = {};
    const { outbox, socket } = await accept(stalled(t, peer));
    const result = new ResultBytes([Buffer.alloc(8000, 'x'), Buffer.alloc(8000, 'y')]);
    for (let i = 0; i < 2000; i++) outbox.sendParts(Buffer.from('prefix'), result);
    await turn();
    assert.ok(outbox.isBackpressured);
    assert.ok(socket.bufferedAmount <= 16_010, `${socket.bufferedAmount} bytes wait in the socket`);
    assert.ok(outbox.queuedBytes > 16_000_000);
    peer.socket!.resume();
    await waitFor('the queued messages to leave', () => outbox.queuedBytes === 0);
    assert.equal(writer.counted, 0);
  });
});
