import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { limitReads } from '../../src/bus/read-limit.ts';
import { waitFor } from '../support/wait-for.ts';

const CHUNK = 64 * 1024;
const LIMIT = 128 * 1024;
/** With what was on its way when the socket was told to pause. */
const MOST = LIMIT + 2 * CHUNK;
const SENT = 8 * 1024 * 1024;

/** What a socket read in each turn of the event loop, in bytes, of much that had arrived before it began to read. */
async function readPerTurn(t: TestContext, prepare: (socket: Socket) => void): Promise<number[]> {
  const server = createServer((socket) => socket.write(Buffer.alloc(SENT)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
    server.close();
  });
  const turns: number[] = [0];
  prepare(socket);
  socket.on('data', ({ length }: Buffer) => {
    if (turns.at(-1) === 0) setImmediate(() => turns.push(0));
    turns[turns.length - 1]! += length;
  });
  await waitFor('everything has been read', () => turns.reduce((sum, bytes) => sum + bytes, 0) === SENT);
  return turns;
}

describe('limitReads', () => {
  it('reads at most its bound and the chunks in flight in one turn, and everything in the end', async (t) => {
    const turns = await readPerTurn(t, (socket) => limitReads(socket, LIMIT));
    assert.ok(Math.max(...turns) <= MOST, `one turn read ${Math.max(...turns)} bytes`);
  });

  it('is what bounds a turn: without it a socket reads past the bound (twin)', async (t) => {
    const turns = await readPerTurn(t, () => undefined);
    assert.ok(Math.max(...turns) > MOST, `no turn read more than ${Math.max(...turns)} bytes`);
  });
});
