import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Subscription {
    orders(status: String): Order
      @kafka(
        topic: "t"
        match: [{ arg: "status", path: "order.status" }]
        where: [{ claim: "org.tenant", path: "order.tenant" }]
        payload: "order"
        history: {}
      )
  }
  type Order { id: ID status: String tenant: String }`;
const QUERY = 'subscription { orders { id } }';
const of = (tenant: unknown) => factsOf('a', { sub: 'ida', org: { tenant } });

describe('a subscription with where', () => {
  it('joins the channel of its claim', async (t) => {
    const { runtime } = await createStage(t, { sdl: SDL });
    const operation = runtime.prepare({ query: 'subscription { orders(status: "open") { id } }' }, undefined);
    assert.ok(!('errors' in operation));
    const source = await runtime.subscribe(operation, undefined, of('acme'));
    assert.ok('channels' in source);
    assert.deepEqual(source.channels, ['t{order.status="open",order.tenant="acme"}']);
  });

  it('is refused, and never gets every value, without the claim', async (t) => {
    const stage = await createStage(t, { sdl: SDL });
    const facts = [factsOf('a', {}), factsOf('a', { org: {} }), of(null), of(['acme']), of({}), of('x'.repeat(300))];
    for (const one of facts) {
      await assert.rejects(
        stage.join(QUERY, one),
        /^Error: Not allowed to subscribe to "orders" without a value in each of the claims "org.tenant"\.$/,
      );
    }
    const operation = stage.runtime.prepare({ query: QUERY }, undefined);
    assert.ok(!('errors' in operation));
    const refusal = await stage.runtime.subscribe(operation, undefined, factsOf('a', {}));
    assert.ok('errors' in refusal);
    assert.equal(refusal.errors[0]?.toJSON().extensions?.['code'], 'FORBIDDEN');
    assert.equal(stage.channelCount(), 0);
  });

  it('receives no event of another tenant, and costs nothing when one arrives', async (t) => {
    const stage = await createStage(t, { sdl: SDL });
    const acme = await stage.join(QUERY, of('acme'));
    const other = await stage.join(QUERY, of('other'));
    await stage.publish('t{order.status=*,order.tenant="other"}', { order: { id: 1, tenant: 'other' } });
    assert.deepEqual([acme.received.length, other.received.length], [0, 1]);
    assert.equal(stage.events, 1);
    assert.equal(stage.executions, 1);
  });

  it('receives the events of every tenant if the binding has no where (twin)', async (t) => {
    const stage = await createStage(t, { sdl: SDL.replace(/where: .*/, '') });
    const acme = await stage.join(QUERY, of('acme'));
    for (const channel of stage.routes({ order: { id: 1, tenant: 'other' } })) {
      await stage.publish(channel, { order: { id: 1, tenant: 'other' } });
    }
    assert.equal(acme.received.length, 1);
  });

  it('resumes with no cursor of another tenant or environment, nor with a forged one (S-17)', async (t) => {
    const cursors = new Cursors('secret');
    const stage = await createStage(t, { sdl: SDL, cursors });
    const channel = (tenant: string) => `t{order.status=*,order.tenant="${tenant}"}`;
    await stage.bus.acquire({ topic: 't', partition: 0, position: -1 });
    const messages = ['acme', 'acme', 'other', 'other'].map((tenant, offset) => ({
      channel: channel(tenant),
      payload: JSON.stringify({ order: { id: `${tenant} ${offset}`, tenant } }),
      offset,
      timestamp: 0,
      history: HISTORY_DEFAULTS,
    }));
    await stage.bus.publish(messages, { topic: 't', partition: 0, offset: 3 });
    const { entries } = await stage.bus.history(channel('acme'), { from: '1', maxEntries: 10, maxBytes: 10_000 });
    const { entry = '', ...position } = entries[0]!.coordinates;
    const cursor = cursors.sign(channel('acme'), { ...position, entry });
    const resume = (tenant: string, from: string) =>
      stage.join(QUERY, of(tenant), undefined, { cursor: from, replaysLast: false });
    const own = await resume('acme', cursor);
    const refused = [
      await resume('other', cursor),
      await resume('acme', new Cursors('secret of another environment').sign(channel('acme'), { ...position, entry })),
      await resume('acme', `${cursor.slice(0, -16)}${'A'.repeat(16)}`),
      await resume('acme', 'x'),
    ];
    await waitFor('the replay', () => own.received.length === 1);
    assert.match(own.received[0]!, /"id":"acme 1"/);
    assert.deepEqual(
      refused.map(({ received }) => received),
      [[], [], [], []],
    );
    assert.deepEqual(stage.resumes, ['resumed', ...refused.map(() => 'cursor_invalid')]);
  });

  it('gives no user an event of another tenant, whatever claims and payloads hold (S-78)', async () => {
    const value = fc.constantFrom<unknown>(
      'a',
      'b',
      1,
      '1',
      true,
      'true',
      '',
      '*',
      '"',
      null,
      undefined,
      ['a'],
      {},
      'a"}',
    );
    const cases = fc.record({
      claims: fc.array(value, { minLength: 1, maxLength: 5 }),
      payloads: fc.array(value, { minLength: 1, maxLength: 5 }),
    });
    const isKey = (candidate: unknown) => ['string', 'number', 'boolean'].includes(typeof candidate);
    await fc.assert(
      fc.asyncProperty(cases, async ({ claims, payloads }) => {
        const ends: (() => void | Promise<void>)[] = [];
        const stage = await createStage({ after: (end: () => void) => void ends.push(end) }, { sdl: SDL });
        try {
          for (const claim of claims.filter(isKey)) {
            const listener = await stage.join(QUERY, of(claim));
            for (const [id, tenant] of payloads.entries()) {
              const channels = stage.routes({ order: { id, tenant } });
              for (const channel of channels) await stage.publish(channel, { order: { id, tenant } });
            }
            const expected = payloads.flatMap((tenant, id) =>
              isKey(tenant) && String(tenant) === String(claim) ? id : [],
            );
            const ids = listener.received.map((text) =>
              Number((JSON.parse(text) as { data: { orders: { id: string } } }).data.orders.id),
            );
            assert.deepEqual(ids, expected);
            listener.leave();
          }
        } finally {
          for (const end of ends.reverse()) await end();
        }
      }),
      { numRuns: 60 },
    );
  });
});
