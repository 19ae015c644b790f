import assert from 'node:assert/strict';
import { isJsonObject } from '../../../base/json/json-object.ts';
import type { ProtocolRow } from '../row.ts';
import type { Socket } from '../socket.ts';

async function expectPong(socket: Socket): Promise<unknown> {
  const message = await socket.next();
  assert.ok(message.type === 'pong', `expected pong, got ${JSON.stringify(message)}`);
  return message.payload;
}

export const pingRows: readonly ProtocolRow[] = [
  {
    id: 'C-17',
    level: 'P',
    title: 'answers a ping before init',
    source: 'protocol, "Ping"',
    async run(stage) {
      const socket = await stage.open();
      socket.send({ type: 'ping' });
      await expectPong(socket);
    },
  },
  {
    id: 'C-18',
    level: 'P',
    title: 'answers a ping after the ack, beside a running operation',
    source: 'protocol, "Ping"',
    needs: ['subscription'],
    async run(stage) {
      const socket = await stage.connect();
      await stage.start(socket, 'a');
      socket.send({ type: 'ping' });
      await expectPong(socket);
    },
  },
  {
    id: 'C-19',
    level: 'P',
    title: 'answers a ping with a payload by a pong, whose payload is an object, if it has one',
    source: 'protocol, "Ping" and "Pong"',
    async run(stage) {
      const socket = await stage.connect();
      socket.send({ type: 'ping', payload: { n: 1 } });
      const payload = await expectPong(socket);
      assert.ok(payload == null || isJsonObject(payload), `the payload is ${JSON.stringify(payload)}`);
    },
  },
  {
    id: 'C-20',
    level: 'P',
    title: 'ignores an unsolicited pong',
    source: 'protocol, "Pong"',
    run: (stage) =>
      stage.ignores([{ type: 'pong' }, { type: 'pong', payload: { n: 1 } }, { type: 'pong', payload: null }]),
  },
  {
    id: 'C-21',
    level: 'P',
    title: 'closes with 4400 when the payload of a ping or pong is not an object',
    source: 'protocol, "Ping", "Pong" and "Invalid message"',
    run: (stage) =>
      stage.refuses(4400, [
        { type: 'ping', payload: 'x' },
        { type: 'ping', payload: 0 },
        { type: 'ping', payload: [] },
        { type: 'pong', payload: 'x' },
      ]),
  },
];
