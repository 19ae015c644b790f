import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { Crier, crier } from './crier.ts';

/** Colours, a title of the window, CSI as one character, an override of the direction, a line of somebody else. */
const HOSTILE = '\u001b[31mred\u001b]0;title\u0007 \u009b2J \u202Egnp.exe \u2028 \r\nconnected again';
const SHOWN = String.raw`\u001b[31mred\u001b]0;title\u0007 \u009b2J \u202egnp.exe \u2028 \u000d\u000aconnected again`;
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** The URL of a server that answers a subscription with `answer`; `left` resolves when the first client has gone. */
async function server(t: TestContext, answer: (socket: WebSocket, id: string) => void) {
  const listening = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(listening, 'listening');
  t.after(() => {
    for (const socket of listening.clients) socket.terminate();
    listening.close();
  });
  const left = once(listening, 'connection').then(([socket]) => once(socket as WebSocket, 'close'));
  listening.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const { type, id = '' } = JSON.parse(data.toString()) as { type: string; id?: string };
      if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
      if (type === 'subscribe') answer(socket, id);
    });
  });
  return { url: `ws://127.0.0.1:${(listening.address() as AddressInfo).port}`, left };
}

const send = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message));

describe('the output of crier tail', { concurrency: 2 }, () => {
  it('escapes control and format characters of a server in its JSON, which keeps its value', async (t) => {
    const result = { data: { [`a${HOSTILE}`]: HOSTILE, emoji: '👩‍🚀' } };
    const { url } = await server(t, (socket, id) => {
      send(socket, { id, type: 'next', payload: result });
      send(socket, { id, type: 'complete' });
    });
    for (const [options, expected] of [
      [[], result.data],
      [['--whole'], result],
    ] as const) {
      const { code, output } = await crier(t, ['tail', 'subscription { a }', '--url', url, ...options]);
      assert.equal(code, 0);
      assert.doesNotMatch(output, HIDDEN);
      assert.deepEqual(JSON.parse(output), expected);
    }
  });

  it('escapes them in the errors of events and operations, and in the reason of a close', async (t) => {
    const answers = [
      (socket: WebSocket, id: string) => {
        const errors = [{ message: HOSTILE, path: [HOSTILE] }];
        send(socket, { id, type: 'next', payload: { data: null, errors } });
        send(socket, { id, type: 'complete' });
      },
      (socket: WebSocket, id: string) => send(socket, { id, type: 'error', payload: [{ message: HOSTILE }] }),
      (socket: WebSocket) => socket.close(4400, HOSTILE),
    ];
    for (const answer of answers) {
      const { url } = await server(t, answer);
      const { errors } = await crier(t, ['tail', 'subscription { a }', '--url', url]);
      assert.doesNotMatch(errors, HIDDEN);
      assert.ok(errors.includes(SHOWN), errors);
      assert.doesNotMatch(errors, /^connected again/m);
    }
  });

  it('reaches a reader that begins after the command has ended', async (t) => {
    const text = 'x'.repeat(1_000_000);
    const { url, left } = await server(t, (socket, id) => {
      send(socket, { id, type: 'next', payload: { data: { text } } });
      send(socket, { id, type: 'complete' });
    });
    const tail = new Crier(t, ['tail', 'subscription { a }', '--url', url]);
    tail.process.stdout.pause();
    await left;
    tail.process.stdout.resume();
    assert.equal(await tail.ended, 0);
    assert.deepEqual(JSON.parse(tail.output), { text });
  });
});
