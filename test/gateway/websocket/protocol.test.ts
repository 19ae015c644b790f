import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closeReason, parseClientMessage, pongMessage } from '../../../src/gateway/websocket/protocol.ts';

describe('closeReason', () => {
  it('keeps a text of 123 bytes and cuts a longer one between characters', () => {
    for (const [text, kept] of [
      ['x'.repeat(123), 123],
      ['x'.repeat(124), 123],
      [`xx${'é'.repeat(61)}`, 62],
      ['😀'.repeat(31), 60],
    ] as const) {
      assert.equal(closeReason(text), text.slice(0, kept));
    }
  });
});

describe('a ping', () => {
  it('is answered with its payload if its frame has at most 1,024 bytes', () => {
    const ping = { type: 'ping', payload: { n: 1 } } as Parameters<typeof pongMessage>[0];
    assert.equal(pongMessage(ping, 1024), '{"type":"pong","payload":{"n":1}}');
    assert.equal(pongMessage(ping, 1025), '{"type":"pong"}');
  });

  it('has no payload if it would be longer than the ping', () => {
    const answer = (text: string) => pongMessage(JSON.parse(text) as Parameters<typeof pongMessage>[0], text.length);
    assert.equal(answer('{"type":"ping","payload":{"n":[1,2]}}'), '{"type":"pong","payload":{"n":[1,2]}}');
    assert.equal(answer('{"type":"ping","payload":{"n":[1e20,1e20]}}'), '{"type":"pong"}');
  });

  it('may have an id of any type, which is ignored', () => {
    for (const id of [7, null, 'x'.repeat(9)]) {
      const ping = Buffer.from(JSON.stringify({ type: 'ping', id }));
      assert.equal(parseClientMessage(ping, 9)?.type, 'ping');
    }
  });
});
