import { describe, it } from 'node:test';
import fc from 'fast-check';
import { KINDS } from './kinds.ts';

/** The short form of `npm run fuzz`. */
describe('random input', () => {
  for (const [name, { shortRuns, property }] of Object.entries(KINDS)) {
    it(`keeps the invariant of ${name}`, async (t) => {
      await fc.assert((await property(t)) as fc.IAsyncProperty<unknown>, { numRuns: shortRuns });
    });
  }
});
