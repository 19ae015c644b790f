import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { collectGarbage } from '../../../src/ops/memory/collect-garbage.ts';
import { MemoryGuard } from '../../../src/ops/memory/memory-guard.ts';
import type { MemoryGuardOptions } from '../../../src/ops/memory/memory-guard.ts';
import type { Relieve } from '../../../src/ops/memory/memory-pressure.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Line {
  readonly msg: string;
  readonly heapPercent: number;
  readonly processPercent?: number;
  readonly closed?: number;
}

/**
 * A guard over made-up readings of 1,000 bytes each. `process`: undefined without a limit of the container.
 * @param free what each relief frees of the bytes that it is asked for. Default: all, with one connection
 */
function guarded(
  t: TestContext,
  options: Partial<MemoryGuardOptions> & { hasContainer?: boolean } = {},
  ...free: readonly Relieve[]
) {
  const use = { heap: 0, process: 0 };
  const share = (usedBytes: number) => ({ usedBytes, limitBytes: 1000 });
  let reads = 0;
  const readProcess = () => (options.hasContainer ? share(use.process) : undefined);
  const memory = {
    read: () => {
      reads++;
      return { heap: share(use.heap), process: readProcess() };
    },
    readProcess,
  };
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const relieved: number[] = [];
  const guard = new MemoryGuard({ memory, log, maxPercent: () => 80, ...options });
  for (const relieve of free.length > 0 ? free : [(bytes: number) => ({ closed: 1, bytes })])
    guard.onPressure((bytes) => {
      relieved.push(bytes);
      return relieve(bytes);
    });
  t.after(() => guard.close());
  guard.start();
  return {
    guard,
    use,
    lines,
    relieved,
    reads: () => reads,
    /** Resolves when the guard has read these after a collection of garbage. */
    collect: async (next: Partial<typeof use>) => {
      Object.assign(use, next);
      const before = reads;
      await collectGarbage();
      await waitFor('a reading', () => reads > before);
    },
  };
}

describe('MemoryGuard', () => {
  it('finds memory short from the percentage on, until there are 5 points less', async (t) => {
    const { guard, collect, lines } = guarded(t);
    const seen: boolean[] = [];
    for (const heap of [799, 800, 751, 749, 799]) {
      await collect({ heap });
      seen.push(guard.isShort);
    }
    assert.deepEqual(seen, [false, true, true, false, false]);
    assert.equal(guard.heapRatio, 0.799);
    assert.deepEqual(
      lines.map(({ msg, heapPercent }) => [msg, heapPercent]),
      [
        ['memory is short: new sockets are refused', 80],
        ['memory is no longer short', 75],
      ],
    );
  });

  it('watches the limit of the container, too', async (t) => {
    const { guard, collect, lines } = guarded(t, { hasContainer: true });
    await collect({ heap: 100, process: 790 });
    assert.equal(guard.isShort, false);
    await collect({ process: 810 });
    assert.equal(guard.isShort, true);
    assert.deepEqual([lines[0]!.heapPercent, lines[0]!.processPercent], [10, 81]);
  });

  it('asks for relief down to the percentage, at each reading halfway between it and the limit or above', async (t) => {
    const { collect, relieved, lines } = guarded(t, { hasContainer: true });
    await collect({ heap: 899 });
    assert.deepEqual(relieved, []);
    await collect({ heap: 920 });
    await collect({ heap: 905, process: 950 });
    assert.deepEqual(relieved, [120, 150]);
    assert.deepEqual(
      lines.map(({ msg, closed }) => [msg, closed]),
      [
        ['memory is short: new sockets are refused', undefined],
        ['memory is very short: closed the connections that held most', 1],
      ],
    );
  });

  it('asks for no relief after a collection that began before the last relief had ended', async (t) => {
    setFlagsFromString('--expose-gc');
    const collectNow = runInNewContext('gc') as () => void;
    let isFirst = true;
    const { collect, relieved, reads } = guarded(t, {}, (bytes) => {
      if (isFirst) collectNow();
      isFirst = false;
      return { closed: 1, bytes };
    });
    const before = reads();
    await collect({ heap: 950 });
    await waitFor('both readings', () => reads() >= before + 2);
    assert.deepEqual(relieved, [150]);
    await collect({ heap: 940 });
    assert.deepEqual(relieved, [150, 140]);
  });

  it('says that no connection holds much if nothing could be closed', async (t) => {
    const { collect, lines } = guarded(t, {}, () => ({ closed: 0, bytes: 0 }));
    await collect({ heap: 950 });
    assert.equal(lines.at(-1)!.msg, 'memory is very short, and no connection holds much of it');
  });

  it('asks each relief for what those before it have left, and none for nothing', async (t) => {
    const free = (most: number) => (bytes: number) => ({ closed: 1, bytes: Math.min(bytes, most) });
    const { collect, relieved, lines } = guarded(t, {}, free(100), free(60), free(10));
    await collect({ heap: 950 });
    assert.deepEqual(relieved, [150, 50]);
    assert.equal(lines.at(-1)!.closed, 2);
  });

  it('follows a percentage that changes, and does nothing with 0', async (t) => {
    let percent = 0;
    const { guard, collect, relieved } = guarded(t, { maxPercent: () => percent });
    await collect({ heap: 990 });
    assert.deepEqual([guard.isShort, relieved], [false, []]);
    percent = 99;
    await collect({ heap: 990 });
    assert.equal(guard.isShort, true);
    percent = 0;
    assert.equal(guard.isShort, false);
  });

  it('collects garbage itself while memory is short and V8 does not, so that an idle pod recovers', async (t) => {
    const { guard, use, collect } = guarded(t, { staleMs: 100 });
    await collect({ heap: 900 });
    assert.equal(guard.isShort, true);
    use.heap = 100;
    await waitFor('the recovery', () => !guard.isShort);
  });

  it('collects garbage before it judges a process near the limit of its container, and else not', async (t) => {
    let collections = 0;
    const collect = () => {
      collections++;
      use.process = 500;
      return collectGarbage();
    };
    const { guard, use, reads } = guarded(t, { hasContainer: true, staleMs: 20, collect });
    const before = reads();
    use.process = 850;
    await waitFor('a reading', () => reads() > before);
    assert.equal(guard.isShort, false);
    assert.equal(collections, 1);
  });

  it('survives a failing collection, and close is idempotent', async (t) => {
    const failing = () => Promise.reject(new Error('of this test'));
    const { guard, lines, use } = guarded(t, { hasContainer: true, staleMs: 20, collect: failing });
    use.process = 900;
    await waitFor('the line', () => lines.some(({ msg }) => msg === 'garbage could not be collected'));
    await guard.close();
    await guard.close();
  });
});
