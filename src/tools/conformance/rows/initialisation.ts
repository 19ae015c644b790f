import assert from 'node:assert/strict';
import { isJsonObject } from '../../../base/json/json-object.ts';
import { assertNone, expectClose, expectCloseEvent } from '../answers.ts';
import type { ProtocolRow } from '../row.ts';

const INIT = { type: 'connection_init' };

export const initialisationRows: readonly ProtocolRow[] = [
  {
    id: 'C-06',
    level: 'P',
    title: 'acknowledges connection_init exactly once',
    source: 'protocol, "ConnectionAck"',
    async run(stage) {
      assertNone(await (await stage.connect()).roundTrip());
    },
  },
  {
    id: 'C-07',
    level: 'P',
    title: 'accepts a payload that is an object or null',
    source: 'protocol, "ConnectionInit"',
    async run(stage) {
      const { connectionParams: params } = stage.subject;
      // Without its parameters this server might refuse the connection.
      for (const payload of params ? [params, { ...params, a: 1 }] : [{}, { a: 1 }, null]) {
        const socket = await stage.open();
        socket.send({ ...INIT, payload });
        const { type } = await socket.next();
        assert.ok(
          type === 'connection_ack',
          `payload ${JSON.stringify(payload)}: expected connection_ack, got ${type}`,
        );
      }
    },
  },
  {
    id: 'C-08',
    level: 'P',
    title: 'closes with 4400 when the payload is not an object',
    source: 'protocol, "ConnectionInit" and "Invalid message"',
    async run(stage) {
      for (const payload of ['x', 0, [], true]) {
        const socket = await stage.open();
        socket.send({ ...INIT, payload });
        await expectClose(socket, 4400, `payload ${JSON.stringify(payload)}`);
      }
    },
  },
  {
    id: 'C-09',
    level: 'P',
    title: 'closes a client that sends nothing with 4408 after the init timeout',
    source: 'protocol, "ConnectionInit"',
    async run(stage) {
      await expectCloseEvent(await stage.open(), 4408, 'Connection initialisation timeout');
    },
  },
  {
    id: 'C-10',
    level: 'P',
    title: 'closes with 4429 at a second init after the ack, whatever its payload',
    source: 'protocol, "ConnectionInit"',
    async run(stage) {
      for (const payload of [stage.subject.connectionParams, { a: 1 }]) {
        const socket = await stage.connect();
        socket.send({ ...INIT, ...(payload && { payload }) });
        await expectCloseEvent(socket, 4429, 'Too many initialisation requests');
      }
    },
  },
  {
    id: 'C-13',
    level: 'REC',
    title: 'closes with 4403 and without an ack when the client is refused',
    source: 'protocol, "ConnectionInit", where it is recommended',
    needs: ['refused params'],
    async run(stage) {
      const socket = await stage.open();
      socket.send({ ...INIT, payload: stage.subject.refusedParams });
      await expectCloseEvent(socket, 4403, 'Forbidden');
    },
  },
  {
    id: 'C-15',
    level: 'P',
    title: 'sends an ack payload that is an object, or none',
    source: 'protocol, "ConnectionAck"',
    async run(stage) {
      const { payload } = await (await stage.open()).init(stage.subject.connectionParams);
      assert.ok(payload == null || isJsonObject(payload), `the payload is ${JSON.stringify(payload)}`);
    },
  },
];
