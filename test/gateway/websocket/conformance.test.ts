import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { conformance } from './conformance.ts';
import { ProbeStage } from './conformance/probe-stage.ts';
import { crier } from './crier.ts';
import { reference } from './reference.ts';
import type { Target } from './target.ts';

const PATIENCE_MS = 15_000;
/** Shorter wait for rows that are known to fail, some of them by a timeout. */
const DEVIATION_PATIENCE_MS = 2_500;

/** True if the server broke the row's promise. Any other error is a mistake in the row itself. */
function isBrokenPromise(error: Error): boolean {
  return error instanceof assert.AssertionError || /^waited \d+ ms in vain/.test(error.message);
}

for (const kind of [reference, crier]) {
  describe(`graphql-transport-ws by ${kind.name}`, { concurrency: 8 }, () => {
    let shared: Target;
    before(async () => {
      // graphql-ws writes the errors that rows provoke to the console.
      mock.method(console, 'error', () => undefined);
      shared = await kind.start({});
    });
    after(async () => {
      await shared.close();
      mock.restoreAll();
    });

    for (const row of conformance) {
      const deviation = kind.deviations.get(row.id);
      it(`${row.id} ${row.title}${deviation ? `: known to fail, ${deviation}` : ''}`, async (t) => {
        const target = row.settings ? await kind.start(row.settings) : shared;
        const stage = new ProbeStage(t, target, deviation ? DEVIATION_PATIENCE_MS : PATIENCE_MS);
        if (target !== shared) t.after(() => target.close());
        if (deviation) await assert.rejects(row.run(stage), isBrokenPromise);
        else await row.run(stage);
      });
    }

    it('lists only rows of the table as known failures', () => {
      const ids = new Set(conformance.map(({ id }) => id));
      assert.equal(ids.size, conformance.length);
      assert.deepEqual(
        [...kind.deviations.keys()].filter((id) => !ids.has(id)),
        [],
      );
    });
  });
}
