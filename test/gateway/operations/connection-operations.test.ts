import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConnectionOperations } from '../../../src/gateway/operations/connection-operations.ts';
import { LIMITS } from '../websocket/bare-gateway.ts';

it('the documents of a connection have the share of its client, also after another token', () => {
  const owner = { id: 'c', isRouter: false, limits: LIMITS, onOperationOver: () => undefined };
  const operations = new ConnectionOperations({} as never, {} as never, owner);
  const { documentLane } = operations;
  for (const documentShare of [100, 1]) {
    owner.limits = { ...LIMITS, documentShare };
    assert.equal(operations.documentLane, documentLane);
    assert.equal(documentLane.parts, documentShare);
  }
});
