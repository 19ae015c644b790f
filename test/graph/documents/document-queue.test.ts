import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OverloadedError } from '../../../src/base/errors.ts';
import { DocumentLane, DocumentQueue } from '../../../src/graph/documents/document-queue.ts';
import type { DocumentQueueOptions } from '../../../src/graph/documents/document-queue.ts';
import { waitFor } from '../../support/wait-for.ts';

const OPTIONS: DocumentQueueOptions = {
  sliceMs: 2,
  hasEvents: () => false,
  totalShare: 0.2,
  maxBytes: 1024 * 1024,
  maxWaitMs: 60_000,
  burstMs: 60_000,
  share: 0.05,
};

/** Work that takes so much time, all of it CPU time: the kernel may count a tick of that too early. */
function busy(ms: number): void {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  while (performance.now() - startedAt < ms || process.cpuUsage(before).user < ms * 1000);
}

/** Puts names into lanes and notes the order in which they are done. */
function stage(options: Partial<DocumentQueueOptions> = {}) {
  const queue = new DocumentQueue({ ...OPTIONS, ...options });
  const done: string[] = [];
  const add = (lane: DocumentLane, name: string, { bytes = 0, ms = 0 } = {}) =>
    queue.add(lane, bytes, () => {
      busy(ms);
      done.push(name);
      return name;
    });
  return { queue, done, add };
}

const isOverloaded = (error: unknown) => {
  assert.ok(error instanceof OverloadedError);
  assert.ok(error.retryAfterMs >= 1000 && error.retryAfterMs <= 60_000, `${error.retryAfterMs} ms`);
  return true;
};

describe('DocumentQueue', () => {
  it('processes one document of each lane in turn, in the order of each lane', async () => {
    const { done, add } = stage();
    const [a, b, c] = [new DocumentLane(), new DocumentLane(), new DocumentLane()];
    for (const name of ['a1', 'a2', 'a3', 'a4']) add(a, name);
    for (const name of ['b1', 'b2']) add(b, name);
    add(c, 'c1');
    await waitFor('all documents', () => done.length === 7);
    assert.deepEqual(done, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('works for no longer than its slice in a turn of the event loop, and for one document at least', async () => {
    const { queue, done, add } = stage({ sliceMs: 5 });
    const lanes = Array.from({ length: 6 }, () => new DocumentLane());
    for (const lane of lanes) add(lane, 'document', { ms: 6 });
    const perTurn: number[] = [];
    while (queue.size > 0) {
      const before = done.length;
      await new Promise((resolve) => setImmediate(resolve));
      perTurn.push(done.length - before);
    }
    assert.deepEqual([...new Set(perTurn.filter((count) => count > 0))], [1]);
  });

  it('returns the result of the work, or rejects with its error', async () => {
    const { queue, add } = stage();
    assert.equal(await add(new DocumentLane(), 'a').done, 'a');
    const broken = queue.add(new DocumentLane(), 0, () => {
      throw new TypeError('broken');
    });
    await assert.rejects(broken.done, TypeError);
    assert.equal(await add(new DocumentLane(), 'b').done, 'b');
  });

  it('drops a cancelled document, and the lane with its last document', async () => {
    const { queue, done, add } = stage();
    const lane = new DocumentLane();
    const works = ['a', 'b', 'c'].map((name) => add(lane, name));
    works[1]!.cancel();
    works[1]!.cancel();
    assert.equal(queue.size, 2);
    const gone = new DocumentLane();
    add(gone, 'gone').cancel();
    assert.ok(gone.isEmpty);
    await Promise.all([works[0]!.done, works[2]!.done]);
    assert.deepEqual(done, ['a', 'c']);
    assert.equal(queue.size, 0);
    assert.equal(lane.bytes, 0);
  });

  it('refuses the newest document of the largest lane when all lanes together exceed the bound', async () => {
    const { queue, done, add } = stage({ maxBytes: 10 * 2048 });
    const greedy = new DocumentLane();
    const modest = new DocumentLane();
    const works = Array.from({ length: 10 }, (_, i) => add(greedy, `greedy ${i}`, { bytes: 1024 }));
    const late = [add(modest, 'modest 0', { bytes: 1024 }), add(modest, 'modest 1', { bytes: 1024 })];
    await assert.rejects(works[9]!.done, isOverloaded);
    await assert.rejects(works[8]!.done, isOverloaded);
    await Promise.all([...works.slice(0, 8), ...late].map((work) => work.done));
    assert.equal(done.length, 10);
    assert.equal(queue.refused, 2);
  });

  it('refuses a document that has waited too long when its turn comes', async () => {
    const { done, add } = stage({ sliceMs: 1, maxWaitMs: 20 });
    const lane = new DocumentLane();
    const first = add(lane, 'first', { ms: 30 });
    const second = add(lane, 'second');
    await first.done;
    await assert.rejects(second.done, isOverloaded);
    assert.deepEqual(done, ['first']);
  });

  it('refuses a lane that has used up its burst, and no other, until the share of a core has made up for it', async () => {
    const { add } = stage({ burstMs: 10, share: 0.1 });
    const greedy = new DocumentLane();
    const burst = Array.from({ length: 5 }, () => add(greedy, 'burst', { ms: 10 }));
    await Promise.all(burst.map((work) => work.done));
    await assert.rejects(add(greedy, 'more').done, isOverloaded);
    assert.equal(await add(new DocumentLane(), 'other').done, 'other');
    await waitFor('credit', () =>
      add(greedy, 'later').done.then(
        () => true,
        () => false,
      ),
    );
  });

  it('gives a lane that stands for several clients as many bursts', async () => {
    const { add } = stage({ burstMs: 10, share: 0.001 });
    const router = new DocumentLane();
    router.parts = 20;
    const run = async (documents: number) => {
      for (let i = 0; i < documents; i++) await add(router, 'one', { ms: 10 }).done;
    };
    await run(5);
    await assert.rejects(run(60), isOverloaded);
  });

  it('processes a document after the immediates of the turn in which it was added', async () => {
    const { done, add } = stage();
    const work = add(new DocumentLane(), 'document');
    setImmediate(() => done.push('event'));
    await work.done;
    assert.deepEqual(done, ['event', 'document']);
  });

  it('takes no more than its share of a core for all lanes together while events flow', async () => {
    const { queue, add } = stage({ sliceMs: 1, hasEvents: () => true, totalShare: 0.1 });
    const startedAt = performance.now();
    const works = Array.from({ length: 5 }, () => add(new DocumentLane(), 'document', { ms: 4 }));
    await Promise.all(works.map((work) => work.done));
    assert.ok(performance.now() - startedAt >= 4 * 40, 'four rests of nine times the work before them');
    assert.equal(queue.size, 0);
    const again = performance.now();
    await add(new DocumentLane(), 'after the last', { ms: 4 }).done;
    assert.ok(performance.now() - again >= 30, 'a rest also where the queue was empty');
  });

  it('refuses with a longer retry time while events flow', async () => {
    let hasEvents = false;
    const { add } = stage({ maxBytes: 100 * 2048, hasEvents: () => hasEvents, totalShare: 0.1 });
    await add(new DocumentLane(), 'slow', { ms: 100 }).done;
    // By the same queue, because it measures how long a document takes.
    const retryAfterMs = async () => {
      const works = Array.from({ length: 101 }, () => add(new DocumentLane(), 'waiting', { bytes: 1024 }));
      const refused = await Promise.race(
        works.map(({ done }) =>
          done.then(
            () => assert.fail('done'),
            (error: OverloadedError) => error.retryAfterMs,
          ),
        ),
      );
      for (const { cancel } of works) cancel();
      return refused;
    };
    const calmMs = await retryAfterMs();
    hasEvents = true;
    // Ten times as long, within bounds. A random part of up to the same length is added, so that clients do not retry all at once.
    assert.ok((await retryAfterMs()) > 2 * calmMs);
  });

  it('charges a lane for work that is done for it elsewhere', async () => {
    const { add } = stage({ burstMs: 100 });
    const lane = new DocumentLane();
    await add(lane, 'first').done;
    lane.charge(200);
    await assert.rejects(add(lane, 'second').done, isOverloaded);
  });
});
