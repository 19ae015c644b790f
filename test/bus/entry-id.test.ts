import assert from 'node:assert/strict';
import { it } from 'node:test';
import { compareEntryIds } from '../../src/bus/entry-id.ts';

it('orders ids by their numbers, with a hyphen and without, and no id before all', () => {
  const inOrder = ['', '0-1', '9-0', '9-1', '9-10', '10-0', '1763730000000-2', '1763730000001'];
  for (const [i, id] of inOrder.entries()) {
    for (const [j, other] of inOrder.entries()) {
      assert.equal(Math.sign(compareEntryIds(id, other)), Math.sign(i - j), `${id} ${other}`);
    }
  }
});
