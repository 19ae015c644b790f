import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isServed, protocolClose, selectProtocol, tokenProtocol } from '../../../src/gateway/websocket/subprotocol.ts';

describe('selectProtocol', () => {
  it('prefers graphql-transport-ws, selects the old sub-protocol only to close it, and no other', () => {
    const select = (...offered: string[]) => selectProtocol(new Set(offered));
    assert.equal(select('graphql-ws', 'graphql-transport-ws'), 'graphql-transport-ws');
    assert.equal(select('foo', 'graphql-ws'), 'graphql-ws');
    assert.equal(select('foo'), false);
    assert.deepEqual(['graphql-transport-ws', 'graphql-ws', ''].map(isServed), [true, false, false]);
  });
});

describe('tokenProtocol', () => {
  it('finds what follows bearer. in one of the protocols, which is never selected', () => {
    assert.equal(tokenProtocol('graphql-transport-ws, bearer.a.b-c_d'), 'a.b-c_d');
    assert.equal(tokenProtocol('bearer.a,graphql-transport-ws'), 'a');
    for (const offered of [undefined, 'graphql-transport-ws', 'bearer.', 'xbearer.a'])
      assert.equal(tokenProtocol(offered), undefined);
    assert.equal(selectProtocol(new Set(['bearer.a'])), false);
  });
});

describe('protocolClose', () => {
  it('names what to use in a reason of 123 bytes at most, which a close frame can hold', () => {
    for (const protocol of ['graphql-ws', '', 'foo']) {
      const [code, reason] = protocolClose(protocol);
      assert.equal(code, 4406);
      assert.match(reason, /npm package graphql-ws/);
      assert.match(reason, /graphql-transport-ws/);
      assert.ok(Buffer.byteLength(reason) <= 123, reason);
    }
  });
});
