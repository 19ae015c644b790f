import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TRANSPORT_WS } from '../../../src/gateway/websocket/transport-ws.ts';

describe('a ping', () => {
  it('is answered with its payload if its frame has at most 1,024 bytes', () => {
    const ping = { type: 'ping', payload: { n: 1 } } as Parameters<typeof TRANSPORT_WS.pong>[0];
    assert.equal(TRANSPORT_WS.pong(ping, 1024), '{"type":"pong","payload":{"n":1}}');
    assert.equal(TRANSPORT_WS.pong(ping, 1025), '{"type":"pong"}');
  });

  it('has no payload if it would be longer than the ping', () => {
    const answer = (text: string) =>
      TRANSPORT_WS.pong(JSON.parse(text) as Parameters<typeof TRANSPORT_WS.pong>[0], text.length);
    assert.equal(answer('{"type":"ping","payload":{"n":[1,2]}}'), '{"type":"pong","payload":{"n":[1,2]}}');
    assert.equal(answer('{"type":"ping","payload":{"n":[1e20,1e20]}}'), '{"type":"pong"}');
  });

  it('may have an id of any type, which is ignored', () => {
    for (const id of [7, null, 'x'.repeat(9)]) {
      const ping = Buffer.from(JSON.stringify({ type: 'ping', id }));
      const message = TRANSPORT_WS.parse(ping, 9);
      assert.ok(typeof message === 'object');
      assert.equal(message.type, 'ping');
    }
  });
});
