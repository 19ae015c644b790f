import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { CursorSecret } from '../../../../src/gateway/fanout/resume/cursor-secret.ts';

const CURSOR = ['c', { epoch: 1, partition: 2, offset: 3, entry: '1-0' }] as const;
/** Interval in ms at which pods check that they still agree. */
const INTERVAL_MS = 5_000;

/** Pods on one bus. The bus keeps the first secret offered until the test removes it. */
function createBus(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const state = { kept: undefined as string | undefined, isAway: false, offers: [] as string[] };
  const agree = (_: string, offered: string) => {
    state.offers.push(offered);
    if (state.isAway) return Promise.reject(new Error('away'));
    return Promise.resolve((state.kept ??= offered));
  };
  const createPod = () => {
    const pod = new CursorSecret({ agree });
    t.after(() => pod.close());
    return pod;
  };
  const tick = async () => {
    t.mock.timers.tick(INTERVAL_MS);
    await nextTurn();
  };
  return { state, createPod, tick };
}

const reads = (reader: CursorSecret, signer: { readonly cursors: Cursors | undefined }) =>
  reader.cursors!.read(CURSOR[0], signer.cursors!.sign(...CURSOR)) !== undefined;

describe('the secret of cursors', () => {
  it('has 32 random bytes, on which all pods agree', async (t) => {
    const { state, createPod } = createBus(t);
    const pods = [createPod(), createPod()] as const;
    assert.equal(pods[0].cursors, undefined);
    for (const pod of pods) await pod.start();
    assert.ok(reads(...pods));
    assert.equal(new Set(state.offers).size, 2);
    for (const offer of state.offers) assert.equal(Buffer.from(offer, 'base64url').length, 32);
  });

  it('is agreed on as soon as the bus recovers, and no longer offered after close', async (t) => {
    const { state, createPod, tick } = createBus(t);
    state.isAway = true;
    const pod = createPod();
    await pod.start();
    assert.equal(pod.cursors, undefined);
    state.isAway = false;
    await tick();
    assert.notEqual(pod.cursors, undefined);
    await pod.close();
    await tick();
    assert.equal(state.offers.length, 2);
  });

  it('is offered again if the bus has lost it, and replaced if the other pods agreed on another', async (t) => {
    const { state, createPod, tick } = createBus(t);
    const [first, second] = [createPod(), createPod()];
    await first.start();
    await second.start();
    const { cursors } = first;
    state.kept = undefined;
    await tick();
    assert.equal(first.cursors, cursors, 'signed with another secret');
    assert.equal(state.kept, state.offers[0]);
    state.isAway = true;
    await tick();
    assert.equal(first.cursors, cursors);
    state.isAway = false;
    state.kept = 'of a third pod';
    await tick();
    assert.ok(reads(first, { cursors: new Cursors('of a third pod') }) && reads(first, second));
    state.kept = undefined;
    await tick();
    assert.equal(state.kept, 'of a third pod');
  });
});
