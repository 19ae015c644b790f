import assert from 'node:assert/strict';
import { expectClose } from '../answers.ts';
import type { Row } from '../row.ts';
import { handshake, TRANSPORT_WS } from '../socket.ts';
import type { Stage } from '../stage.ts';

function offering({ subject }: Stage, protocols: string) {
  return handshake(subject.url, { ...subject.headers, 'sec-websocket-protocol': protocols });
}

export const handshakeRows: readonly Row[] = [
  {
    id: 'C-01',
    level: 'P',
    title: 'selects graphql-transport-ws and echoes exactly that',
    async run(stage) {
      const { status, headers } = await offering(stage, TRANSPORT_WS);
      assert.ok(status === 101, `expected status 101, got ${status}`);
      assert.equal(headers['sec-websocket-protocol'], TRANSPORT_WS);
    },
  },
  {
    id: 'C-02',
    level: 'REF',
    title: 'selects graphql-transport-ws among others',
    async run(stage) {
      for (const offer of [`${TRANSPORT_WS}, foo`, `foo, ${TRANSPORT_WS}`, `foo,${TRANSPORT_WS}`]) {
        const { status, headers } = await offering(stage, offer);
        const selected = headers['sec-websocket-protocol'];
        assert.deepEqual([status, selected], [101, TRANSPORT_WS], `"${offer}": got status ${status}, ${selected}`);
      }
    },
  },
  {
    id: 'C-03',
    level: 'REF',
    title: 'closes an unknown sub-protocol with 4406',
    async run(stage) {
      // Sent as a bare header, because the client of `ws` refuses a response that selects no protocol it offered.
      const socket = await stage.open({ protocols: [], headers: { 'sec-websocket-protocol': 'foo' } });
      assert.match((await expectClose(socket, 4406)).reason, /^Subprotocol not acceptable/);
      const { status, headers } = await offering(stage, 'foo');
      assert.ok(status === 101, `expected status 101, got ${status}`);
      assert.equal(headers['sec-websocket-protocol'], undefined, 'the unknown sub-protocol was selected');
    },
  },
  {
    id: 'C-04',
    level: 'REF',
    title: 'closes a client without a sub-protocol with 4406',
    async run(stage) {
      await expectClose(await stage.open({ protocols: [] }), 4406);
    },
  },
];
