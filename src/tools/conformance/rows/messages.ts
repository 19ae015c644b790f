import assert from 'node:assert/strict';
import { assertData, expectClose } from '../answers.ts';
import { clientFrame, OPCODE } from '../client-frame.ts';
import { subscribeMessage } from '../message.ts';
import type { ProtocolRow } from '../row.ts';
import type { Socket } from '../socket.ts';

const PING = '{"type":"ping"}';

async function expectPong(socket: Socket): Promise<void> {
  const message = await socket.next();
  assert.ok(message.type === 'pong', `expected pong, got ${JSON.stringify(message)}`);
}

export const messageRows: readonly ProtocolRow[] = [
  {
    id: 'C-52',
    level: 'P',
    title: 'closes with 4400 at text that is not JSON',
    source: 'protocol, "Communication" and "Invalid message"',
    run: (stage) => stage.refuses(4400, ['{', '', 'undefined', `${PING}x`]),
  },
  {
    id: 'C-53',
    level: 'P',
    title: 'closes with 4400 at JSON that is not an object',
    source: 'protocol, "Communication" and "Invalid message"',
    run: (stage) => stage.refuses(4400, ['1', '"x"', 'null', '[]', 'true']),
  },
  {
    id: 'C-54',
    level: 'P',
    title: 'closes with 4400 at a type that is missing or unknown',
    source: 'protocol, "Communication" and "Invalid message"',
    run: (stage) =>
      stage.refuses(4400, [{}, ...[0, '', null, 'start', 'nuxt', '__proto__', 'toString'].map((type) => ({ type }))]),
  },
  {
    id: 'C-55',
    // The protocol asks for 4400 at messages that it does not specify; these it does, for the other direction.
    level: 'REC',
    title: 'closes with 4400 at messages that only a server sends',
    source: 'crier: "Invalid message" says nothing of messages in the wrong direction',
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
    source: 'crier: later versions of the protocol may add fields',
    needs: ['query'],
    async run(stage) {
      const socket = await stage.connect();
      socket.send({ type: 'ping', x: 1 });
      await expectPong(socket);
      const { query, variables } = stage.subject.query;
      socket.send({ ...subscribeMessage('a', query, variables), x: { y: 1 } });
      assertData(await socket.next(), 'a');
    },
  },
  {
    id: 'X-42',
    level: 'RFC',
    title: 'reassembles a message from fragments and from TCP segments',
    source: 'RFC 6455, 5.4',
    async run(stage) {
      const socket = await stage.connect();
      socket.write(clientFrame('{"type":', { isFinal: false }));
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(clientFrame('"ping"}', { opcode: OPCODE.continuation }));
      await expectPong(socket);
      for (const byte of clientFrame(PING)) socket.write(Buffer.of(byte));
      await expectPong(socket);
    },
  },
  {
    id: 'X-45',
    level: 'RFC',
    title: 'closes with 1007 at a text frame that is not UTF-8',
    source: 'RFC 6455, 8.1 and 7.4.1',
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
    title: 'closes with 1002 at reserved bits, an unmasked frame and a reserved opcode',
    source: 'RFC 6455, 5.1, 5.2 and 7.4.1',
    async run(stage) {
      for (const broken of [
        { reserved: 4 },
        { reserved: 2 },
        { reserved: 1 },
        { isMasked: false },
        { opcode: 3 },
        { opcode: 11 },
      ]) {
        const socket = await stage.connect();
        socket.write(clientFrame(PING, broken));
        await expectClose(socket, 1002, JSON.stringify(broken));
      }
    },
  },
];
