import assert from 'node:assert/strict';
import { Session } from 'node:inspector/promises';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { callTree } from '../../../loadtest/profile/call-tree.ts';
import type { Call } from '../../../loadtest/profile/call-tree.ts';
import { LIFE_INTERVAL_US, LifeProfile } from '../../../src/ops/profiling/life-profile.ts';
import { recordCpu } from '../../../src/ops/profiling/recording.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Keeps the CPU busy under a name of its own. */
function burnForALife(ms: number): string[] {
  const end = performance.now() + ms;
  let texts: string[] = [];
  while (performance.now() < end) texts = Array.from({ length: 1000 }, (_, index) => `${index} of ${end}`);
  return texts;
}

/** A started profile, and the number of its windows that have ended. */
async function startProfile(t: TestContext, windowMs: number) {
  const spy = new Session();
  spy.connect();
  t.after(() => spy.disconnect());
  await spy.post('Profiler.enable');
  let windows = 0;
  spy.on('Profiler.consoleProfileFinished', () => windows++);
  const profile = new LifeProfile({ windowMs });
  await profile.start();
  t.after(() => void profile.stop());
  return { profile, windows: () => windows };
}

/** Samples of a function and its callees. */
function samplesOf(profile: LifeProfile, name: string): number {
  const totalUs = ({ frame, totalUs: own, callees }: Call): number =>
    frame.functionName === name ? own : callees.reduce((sum, callee) => sum + totalUs(callee), 0);
  return totalUs(callTree(profile.stop())) / LIFE_INTERVAL_US;
}

describe('LifeProfile', () => {
  it('has the samples of all windows, also after the end', async (t) => {
    const { profile, windows } = await startProfile(t, 100);
    function burnFirst() {
      burnForALife(20);
    }
    while (windows() < 1) await nextTurn(burnFirst());
    while (windows() < 3) await nextTurn(burnForALife(20));
    assert.ok(samplesOf(profile, 'burnFirst') > 0);
    const samples = samplesOf(profile, 'burnForALife');
    assert.ok(samples > 0);
    burnForALife(50);
    assert.equal(samplesOf(profile, 'burnForALife'), samples);
  });

  it('lets a window end later while the event loop is late', async (t) => {
    const { windows } = await startProfile(t, 50);
    await waitFor('a window', () => windows() > 0);
    const before = windows();
    burnForALife(700);
    // Its timer runs before this one, which was set later.
    await delay(1);
    assert.equal(windows(), before);
  });

  it('records beside a profile for the admin port, and both have the samples', async (t) => {
    const { profile } = await startProfile(t, 60_000);
    let text: string | undefined;
    void recordCpu(300, new AbortController().signal).then((pieces) => (text = [...pieces].join('')));
    while (text === undefined) await nextTurn(burnForALife(20));
    assert.match(text, /burnForALife/);
    assert.ok(samplesOf(profile, 'burnForALife') > 0);
  });
});
