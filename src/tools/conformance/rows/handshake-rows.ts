import assert from 'node:assert/strict';
import { expectClose } from '../answers.ts';
import { handshake } from '../handshake.ts';
import { TRANSPORT_WS } from '../message.ts';
import type { ProtocolRow } from '../row.ts';
import type { Stage } from '../stage.ts';

function offering({ subject, patienceMs }: Stage, protocols: string) {
  return handshake(subject.url, { ...subject.headers, 'sec-websocket-protocol': protocols }, patienceMs);
}

export const handshakeRows: readonly ProtocolRow[] = [
  {
    id: 'C-01',
    level: 'P',
    title: 'selects graphql-transport-ws and echoes exactly that',
    source: 'protocol, "Communication"',
    async run(stage) {
      const { status, headers } = await offering(stage, TRANSPORT_WS);
      assert.ok(status === 101, `expected status 101, got ${status}`);
      const selected = headers['sec-websocket-protocol'];
      assert.ok(selected === TRANSPORT_WS, `expected ${TRANSPORT_WS} to be selected, got ${selected ?? 'none'}`);
    },
  },
  {
    id: 'C-02',
    level: 'REF',
    title: 'selects graphql-transport-ws among others',
    source: 'graphql-ws; RFC 6455, 4.2.2 lets the server select any that it speaks',
    async run(stage) {
      for (const offer of [`${TRANSPORT_WS}, foo`, `foo, ${TRANSPORT_WS}`, `foo,${TRANSPORT_WS}`]) {
        const { status, headers } = await offering(stage, offer);
        const selected = headers['sec-websocket-protocol'];
        assert.ok(
          status === 101 && selected === TRANSPORT_WS,
          `offered "${offer}": expected status 101 and ${TRANSPORT_WS}, got ${status} and ${selected ?? 'none'}`,
        );
      }
    },
  },
  {
    id: 'C-03',
    level: 'REF',
    title: 'closes an unknown sub-protocol with 4406',
    source: 'graphql-ws; the protocol has no code for it',
    async run(stage) {
      const { status, headers } = await offering(stage, 'foo');
      assert.ok(status === 101, `offered "foo": expected status 101 and close 4406, got status ${status}`);
      const selected = headers['sec-websocket-protocol'];
      assert.ok(selected === undefined, `offered "foo": expected none to be selected, got ${selected}`);
      // Sent as a bare header, because the client of `ws` refuses a response that selects no protocol it offered.
      const socket = await stage.open({ protocols: [], headers: { 'sec-websocket-protocol': 'foo' } });
      const { reason } = await expectClose(socket, 4406, 'offered "foo"');
      assert.ok(reason.startsWith('Subprotocol not acceptable'), `the reason of close 4406 is "${reason}"`);
    },
  },
  {
    id: 'C-04',
    level: 'REF',
    title: 'closes a client without a sub-protocol with 4406',
    source: 'graphql-ws; the protocol has no code for it',
    async run(stage) {
      await expectClose(await stage.open({ protocols: [] }), 4406);
    },
  },
];
