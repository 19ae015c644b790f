import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pod } from '../end-to-end/pod.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { podsStage, postReload } from '../reload/pods-stage.ts';
import { openSocket } from '../support/socket.ts';

const FORMER = (topic: string) => `
  type Item { id: ID! a: ID b: ID n: Int! }
  type Subscription {
    item(id: ID!): Item @kafka(topic: "${topic}", match: [{ arg: "id", path: "id" }], history: {})
    moved(id: ID!): Item @kafka(topic: "${topic}", match: [{ arg: "id", path: "a" }])
  }`;
const LATER = (topic: string) =>
  FORMER(topic)
    .replace('path: "a"', 'path: "b"')
    .replace('b: ID n', 'b: ID extra: String n')
    .replace('moved(', `added(of: ID!): Item @kafka(topic: "${topic}", match: [{ arg: "of", path: "extra" }]) moved(`);

interface Result {
  readonly data: { readonly item: { readonly n: number } };
  readonly extensions: {
    readonly cursor: string;
    readonly gap?: boolean;
    readonly resumed?: boolean;
    readonly stateComplete?: boolean;
  };
}

/** The events of one subscription. */
async function listen(t: TestContext, pod: Pod, selection: string, cursor?: string) {
  const socket = await openSocket(t, pod.url, { patienceMs: 60_000 });
  await socket.init();
  const [operations, channels] = [await pod.metric('crier_operations'), await pod.metric('crier_channels')];
  const query = `subscription { item: ${selection} }`;
  socket.subscribe('1', query, undefined, { ...(cursor !== undefined && { resume: { cursor } }) });
  await pod.counts('crier_operations', operations + 1);
  // From then on it receives what is published. One that resumes shares the channel of the one before.
  if (cursor === undefined) await pod.counts('crier_channels', channels + 1);
  return {
    next: async () => {
      const { type, payload } = await socket.next();
      assert.equal(type, 'next', JSON.stringify(payload));
      return payload as Result;
    },
    numbersLeft: () => socket.unread.map(({ payload }) => (payload as Result).data.item.n),
  };
}

describe('docs/operate/schema-changes.md: two graphs side by side', { concurrency: 2, timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('serve fields that both have without a loss; a field with another match starves where worker and gateway differ', async (t) => {
    const stage = await podsStage(t, outside, { schemaOf: FORMER, resolvers: '' });
    const later = { GRAPH: await graphFolder(t, { 'schema.graphql': LATER(stage.topic) }) };
    const [worker, former, next] = await Promise.all([
      stage.start('worker', { ROLE: 'worker' }),
      stage.start('former', { ROLE: 'gateway' }),
      stage.start('next', { ROLE: 'gateway', ...later }),
    ]);
    await worker.reports({ kafka: 'connected' });
    const item = 'item(id: "1") { n }';
    const moved = 'moved(id: "1") { n }';
    const ofFormer = { item: await listen(t, former, item), moved: await listen(t, former, moved) };
    const ofNext = {
      item: await listen(t, next, item),
      moved: await listen(t, next, moved),
      added: await listen(t, next, 'added(of: "1") { n }'),
    };
    const send = (n: number) =>
      outside.send(stage.topic, [
        { partition: 0, key: '1', value: JSON.stringify({ id: '1', a: '1', b: '1', extra: '1', n }) },
      ]);
    const takes = async (n: number, ...subscriptions: Awaited<ReturnType<typeof listen>>[]) => {
      for (const one of subscriptions) {
        const { data, extensions } = await one.next();
        assert.deepEqual([data.item.n, extensions.gap], [n, undefined]);
      }
    };

    await send(0);
    const { data, extensions } = await ofFormer.item.next();
    assert.equal(data.item.n, 0);
    await takes(0, ofFormer.moved, ofNext.item);

    const nextWorker = await stage.start('next worker', { ROLE: 'worker', ...later });
    await worker.stop();
    await nextWorker.reports({ kafka: 'connected' });
    await send(1);
    // Without the record 0, which the former worker published.
    await takes(1, ofFormer.item, ofNext.item, ofNext.moved, ofNext.added);
    await send(2);
    await takes(2, ofFormer.item, ofNext.item, ofNext.moved, ofNext.added);
    assert.deepEqual(ofFormer.moved.numbersLeft(), []);

    const back = await listen(t, next, 'item(id: "1") { n extra }', extensions.cursor);
    assert.equal((await back.next()).extensions.resumed, true);
    await takes(2, back);
  });

  it('begin the topic anew if they keep other states: earlier events come again, and earlier cursors do not resume', async (t) => {
    const schemaOf = (state: string) => (topic: string) => `
      type Item { id: ID! n: Int! }
      type Subscription {
        item(id: ID!): Item @kafka(topic: "${topic}", match: [{ arg: "id", path: "id" }], history: {})
        kept(n: Int!): Item @kafka(topic: "${topic}", match: [{ arg: "n", path: "n" }], state: ${state})
      }`;
    const stage = await podsStage(t, outside, { schemaOf: schemaOf('{}'), resolvers: '' });
    const ofFormer = { GRAPH: await graphFolder(t, { 'schema.graphql': schemaOf('{}')(stage.topic) }) };
    const [pod, former] = await Promise.all([
      stage.start('a'),
      stage.start('former', { ROLE: 'gateway', ...ofFormer }),
    ]);
    await pod.reports({ kafka: 'connected', incomplete_states: [], state_fills: [] });
    await former.reports({ incomplete_states: [] });
    const live = await listen(t, pod, 'item(id: "1") { n }');
    await stage.send(stage.topic, 2);
    const { cursor } = (await live.next()).extensions;
    await live.next();
    await stage.write('schema.graphql', schemaOf('{ seconds: 3600 }')(stage.topic));
    const { status, report } = await postReload(pod);
    assert.equal(status, 202);
    assert.deepEqual(
      report.pods.map(({ outcome }) => outcome),
      ['swapped', 'unchanged'],
    );
    await pod.reports({ incomplete_states: [], state_fills: [] });
    await former.reports({ incomplete_states: [stage.topic] });
    const again = [await live.next(), await live.next()];
    assert.deepEqual(
      again.map(({ data, extensions }) => [data.item.n, extensions.gap]),
      [
        [0, true],
        [1, undefined],
      ],
    );
    const back = await listen(t, pod, 'item(id: "1") { n }', cursor);
    await stage.send(stage.topic, 1);
    const { data, extensions } = await back.next();
    assert.deepEqual([data.item.n, extensions.resumed], [2, false]);
  });
});
