import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Binding } from '../../src/graph/schema/binding.ts';
import { createRouters } from '../../src/graph/router.ts';
import { unmatchedRecords } from '../../src/graph/router-metrics.ts';
import { UnmatchedLog } from '../../src/server/unmatched-log.ts';
import { logLines } from '../bus/log-lines.ts';

const binding = (field: string, path?: string, payload: string[] = []): Binding => ({
  field,
  topics: ['orders'],
  match: path === undefined ? [] : [{ arg: 'id', path, isOptional: false }],
  payload,
  where: [],
  isShared: true,
});

function create(...bindings: Binding[]) {
  const routers = createRouters(bindings, 'p:');
  const { log, lines } = logLines();
  const unmatched = new UnmatchedLog(routers.values(), log);
  const router = routers.get('orders')!;
  return {
    /** Ends a window in which these records came; returns what was logged. */
    window: (...payloads: unknown[]) => {
      for (const payload of payloads) router.count(router.valuesIn(payload), { key: null });
      unmatched.report();
      return lines.splice(0).map(({ level, field, payloadPath, reason, unmatched: count, records }) => {
        return [
          level === 40 ? 'warn' : 'info',
          field,
          payloadPath,
          reason,
          `${count as number} of ${records as number}`,
        ];
      });
    },
    counted: () => [...unmatchedRecords(routers.values())].filter(({ value }) => value > 0),
  };
}

describe('UnmatchedLog', () => {
  it('warns of a field that no record of the window matched, once in each window', () => {
    const { window, counted } = create(binding('order_updated', 'order.order_id'));
    const expected = [['warn', 'order_updated', 'order.order_id', 'match_absent', '2 of 2']];
    assert.deepEqual(window({ order: { id: 1 } }, {}), expected);
    assert.deepEqual(window({ order: { id: 1 } }, {}), expected);
    assert.deepEqual(window(), []);
    assert.deepEqual(counted(), [{ labels: { field: 'order_updated', reason: 'match_absent' }, value: 4 }]);
  });

  it('informs of records that no field of their topic matched, where others were matched', () => {
    const { window } = create(binding('order_updated', 'order.order_id'));
    assert.deepEqual(window({ order: { order_id: 1 } }, {}), [
      ['info', 'order_updated', 'order.order_id', 'match_absent', '1 of 2'],
    ]);
  });

  it('is silent about records that another field of their topic matched', () => {
    const { window } = create(binding('order_updated', 'order.order_id'), binding('bid_placed', 'bid.bid_id'));
    const [order, bid] = [{ order: { order_id: 1 } }, { bid: { bid_id: 1 } }];
    assert.deepEqual(window(order, bid, bid), []);
    assert.deepEqual(window(order, order), [], 'a field that has matched before');
  });

  it('warns of a field that has never matched a record of a topic whose records all match another', () => {
    const { window } = create(binding('everything'), binding('bid_placed', 'bid.bidId'));
    assert.deepEqual(window({ bid: { bid_id: 1 } }), [['warn', 'bid_placed', 'bid.bidId', 'match_absent', '1 of 1']]);
  });

  it('tells an absent payload from an absent match', () => {
    const { window, counted } = create(binding('order_updated', 'id', ['order']));
    const path = ['order_updated', 'order', 'payload_absent'];
    assert.deepEqual(window({ id: 1 }, { id: 1, order: null }), [['warn', ...path, '2 of 2']]);
    assert.deepEqual(window({ id: 1 }, { id: 1, order: {} }), [['info', ...path, '1 of 2']]);
    assert.deepEqual(counted(), [{ labels: { field: 'order_updated', reason: 'payload_absent' }, value: 3 }]);
  });
});
