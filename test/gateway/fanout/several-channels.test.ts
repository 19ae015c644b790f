import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import { joinChannels } from '../../../src/gateway/fanout/join-channels.ts';
import { HISTORY_DEFAULTS as history } from '../../../src/bus/history.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Order { id: ID total: Int }
  type Subscription {
    orders(ids: [ID!]!): Order @kafka(topic: "t", match: { arg: "ids", path: "id" }, history: {}, replay: LAST)
    all: Order @kafka(topics: ["t", "u"])
  }
`;
const ORDERS = 'subscription ($ids: [ID!]!) { orders(ids: $ids) { id total } }';

async function start(t: TestContext) {
  const stage = await createStage(t, { sdl: SDL, cursors: new Cursors('secret') });
  const listen = (ids: string[], cursor?: string) =>
    stage.join(ORDERS, factsOf('a', {}), { ids }, cursor === undefined ? undefined : { cursor, replaysLast: false });
  return { ...stage, stage, listen };
}

const totalsOf = (received: readonly string[]) =>
  received.map((text) => (JSON.parse(text) as { data: { orders: { total: number } } }).data.orders.total);

const channelOf = (id: string) => `t{id="${id}"}`;

describe('a subscription with several channels', () => {
  it('receives the events of each once, and of no other', async (t) => {
    const { stage, listen } = await start(t);
    const { received } = await listen(['1', '2', '1']);
    for (const [id, total] of [['1', 1], ['2', 2], ['3', 3], ['1', 4]] as const) await stage.publish(channelOf(id), { id, total }); // prettier-ignore
    assert.deepEqual(totalsOf(received), [1, 2, 4]);
    assert.equal(stage.channelCount(), 2);
  });

  it('leaves all of them', async (t) => {
    const { stage, listen } = await start(t);
    const listener = await listen(['1', '2']);
    const other = await listen(['2']);
    listener.leave();
    assert.equal(stage.channelCount(), 1);
    await stage.publish(channelOf('2'), { id: '2', total: 5 });
    assert.deepEqual([listener.received.length, totalsOf(other.received)], [0, [5]]);
  });

  it('shares executions with equal lists only', async (t) => {
    const { stage, listen } = await start(t);
    const listeners = await Promise.all([['1', '2'], ['1', '2'], ['2', '1'], ['1']].map((ids) => listen(ids)));
    stage.executions = 0;
    await stage.publish(channelOf('1'), { id: '1', total: 1 });
    assert.deepEqual(
      listeners.map(({ received }) => totalsOf(received)),
      [[1], [1], [1], [1]],
    );
    for (const { received, alone } of listeners) assert.equal(received.length, alone.length);
  });

  it('does not resume, and says so', async (t) => {
    const { stage, listen } = await start(t);
    await listen(['1', '2'], 'any cursor');
    assert.deepEqual(stage.resumes, ['incomplete']);
    await listen(['1', '1'], 'any cursor');
    assert.deepEqual(stage.resumes, ['incomplete', 'cursor_invalid']);
  });

  it('begins with the last event of each, if the field is configured so', async (t) => {
    const { stage } = await start(t);
    for (const id of ['1', '2', '3']) {
      const message = { channel: channelOf(id), payload: JSON.stringify({ id, total: Number(id) }), history };
      await publisherOf(stage.bus, 't', 0).publish([message]);
    }
    const from = { cursor: undefined, replaysLast: true };
    const { received } = await stage.join(ORDERS, factsOf('a', {}), { ids: ['1', '2', '4'] }, from);
    await waitFor('both events', () => received.length === 2);
    assert.deepEqual(totalsOf(received).sort(), [1, 2]);
  });

  it('begins each with the state that the field keeps', async (t) => {
    const { stage } = await start(t);
    const starts: unknown[] = [];
    const join = (...[, , , from]: Parameters<ReturnType<typeof stage.hub>['join']>) => {
      starts.push(from);
      return Promise.resolve(() => undefined);
    };
    const { subscription } = await stage.join('subscription { all { id } }', factsOf('a', {}));
    const port = { join, notifyResume: () => undefined };
    const state = { cursor: undefined, replaysLast: true, hasState: true };
    await joinChannels(port, { channels: ['a', 'b'], sharingKey: 'k' }, subscription, { ...state, cursor: 'x' });
    assert.deepEqual(starts, [state, state]);
  });

  it('joins none of them if one is refused, and leaves the hub empty', async (t) => {
    const { stage } = await start(t);
    const hub = stage.hub();
    const left: string[] = [];
    const join = (channel: string) =>
      channel === 'b'
        ? Promise.reject(new BusUnavailableError('refused'))
        : Promise.resolve(() => void left.push(channel));
    const port = { join, notifyResume: hub.notifyResume.bind(hub) } as unknown as typeof hub;
    const { subscription } = await stage.join('subscription { all { id } }', factsOf('a', {}));
    const joining = joinChannels(port, { channels: ['a', 'b', 'c'], sharingKey: 'k' }, subscription);
    await assert.rejects(joining, BusUnavailableError);
    assert.deepEqual(left, ['a', 'c']);
  });

  it('receives the events of all topics of its field', async (t) => {
    const { stage } = await start(t);
    const { received } = await stage.join('subscription { all { id } }', factsOf('a', {}));
    await stage.publish('t{}', { id: '1' });
    await stage.publish('u{}', { id: '2' });
    await waitFor('both events', () => received.length === 2);
    assert.equal(stage.channelCount(), 2);
  });
});
