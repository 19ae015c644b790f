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
    for (const id of [7, null, 'x'.repeat(200)]) {
      const ping = Buffer.from(JSON.stringify({ type: 'ping', id }));
      const message = TRANSPORT_WS.parse(ping);
      assert.ok(typeof message === 'object');
      assert.equal(message.type, 'ping');
    }
  });
});

describe('a complete', () => {
  const idOf = (text: string) => TRANSPORT_WS.completedId(Buffer.from(text));

  it('is known by its text, with its members in either order', () => {
    for (const text of ['{"id":"é 1","type":"complete"}', ' { "type" : "complete", "id" : "é 1" } '])
      assert.equal(idOf(text), 'é 1');
  });

  it('is not seen in any other message', () => {
    for (const text of [
      '{"id":"1","type":"subscribe"}',
      '{"id":"1","type":"complete","id":"2"}',
      '{"id":"","type":"complete"}',
      '{"id":"a\\u0062","type":"complete"}',
      '[{"id":"1","type":"complete"}]',
      `{"id":"${'x'.repeat(2000)}","type":"complete"}`,
    ])
      assert.equal(idOf(text), undefined, text);
  });
});
