import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Retention } from '../../../../src/bus/history.ts';
import { HeldIntake } from '../../../../src/gateway/fanout/resume/held-intake.ts';
import { Intake } from '../../../../src/bus/flow/intake.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int }`;
const CHANNEL = 't{item.id="1"}';
const STATE: Retention = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0 };

const START = { cursor: undefined, replaysLast: true, hasState: true };

/** A channel with one event, whose reads wait for `answer`. */
async function createChannel(t: TestContext) {
  const stage = await createStage(t, { sdl: SDL });
  const { bus } = stage;
  await bus.acquire({ topic: 't', partition: 0, position: -1 });
  let next = 0;
  const publish = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const offset = next++;
      const payload = `{"item":{"id":1,"n":${offset}}}`;
      const message = { channel: CHANNEL, payload, offset, timestamp: 0, history: STATE };
      await bus.publish([message], { topic: 't', partition: 0, offset });
    }
  };
  await publish(1);
  const reads: (() => void)[] = [];
  const history = bus.history.bind(bus);
  bus.history = async (...query) => {
    const answer = await history(...query);
    await new Promise<void>((resolve) => reads.push(resolve));
    return answer;
  };
  const join = (id: string, hasStart = true) =>
    stage.join('subscription { item(id: 1) { n } }', factsOf(id, {}), undefined, hasStart ? START : undefined);
  const answer = () => {
    for (const resolve of reads.splice(0)) resolve();
  };
  const isReading = () => waitFor('a read', () => reads.length > 0);
  return { stage, publish, join, answer, isReading };
}

describe('events that are held for clients that join', () => {
  it('count in their intake until the client has them', async (t) => {
    const { stage, publish, join, answer, isReading } = await createChannel(t);
    const joining = join('a');
    await isReading();
    await publish(3);
    assert.equal(stage.waitingBytes(), 3 * '{"item":{"id":1,"n":1}}'.length);
    answer();
    const { received } = await joining;
    await waitFor('all events', () => received.length === 4);
    await waitFor('the intake', () => stage.waitingBytes() === 0);
  });

  it('count once beside live clients', async (t) => {
    const { stage, publish, join, answer, isReading } = await createChannel(t);
    const live = await join('live', false);
    const joining = join('a');
    await isReading();
    await publish(1);
    assert.equal(stage.waitingBytes(), '{"item":{"id":1,"n":1}}'.length);
    await waitFor('the live event', () => live.received.length === 1);
    await waitFor('half of it', () => stage.waitingBytes() === Math.round('{"item":{"id":1,"n":1}}'.length / 2));
    answer();
    await joining;
    await waitFor('the intake', () => stage.waitingBytes() === 0);
  });

  it('do not count for a client whose socket lags', async (t) => {
    const { stage, publish, join, answer, isReading } = await createChannel(t);
    const joining = join('a');
    await isReading();
    await publish(3);
    answer();
    const { socket, received } = await joining;
    socket.isBackpressured = true;
    await publish(3);
    await waitFor('the intake', () => stage.waitingBytes() === 0);
    assert.ok(received.length < 7, 'it lags');
    socket.isBackpressured = false;
    await waitFor('all events', () => received.length === 7);
  });

  it('do not count after the client has left before its read ended', async (t) => {
    const { stage, publish, join, answer, isReading } = await createChannel(t);
    const joining = join('a');
    await isReading();
    await publish(3);
    answer();
    (await joining).leave();
    await nextTurn();
    assert.equal(stage.waitingBytes(), 0);
  });
});

describe('HeldIntake', () => {
  const create = () => {
    const intake = new Intake('t', 0);
    const held = new HeldIntake();
    const add = (length: number) => {
      intake.arrive(length);
      held.add({ intake, length });
    };
    return { intake, held, add };
  };
  const [first, second] = [{}, {}];

  it('serves an event when all subscriptions have had it', () => {
    const { intake, held, add } = create();
    held.open(first, 5);
    add(10);
    held.open(second, 6);
    add(20);
    assert.equal(intake.waiting, 30);
    held.advance(second, 7);
    assert.equal(intake.waiting, 30);
    held.advance(first, 6);
    assert.equal(intake.waiting, 20);
    held.close(first);
    assert.equal(intake.waiting, 0);
    held.close(second);
    held.close(second);
    assert.equal(held.isAwaited, false);
  });

  it('gives up a subscription that has not had an event after two intervals', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { intake, held, add } = create();
    held.open(first, 0);
    add(10);
    held.open(second, 1);
    t.mock.timers.tick(1000);
    add(20);
    assert.equal(intake.waiting, 30);
    t.mock.timers.tick(1000);
    assert.equal(intake.waiting, 20, 'the first subscription is given up, the second is not');
    held.advance(second, 2);
    assert.equal(intake.waiting, 0);
    held.advance(first, 2);
    assert.equal(held.isAwaited, true, 'by the second one only');
    held.close(second);
    assert.equal(held.isAwaited, false);
  });
});
