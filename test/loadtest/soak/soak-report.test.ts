import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '../../../loadtest/soak/soak-report.ts';
import type { SoakOutcome } from '../../../loadtest/soak/soak-report.ts';

const PLAN = { minutes: 30, connections: 4000, percent: 110, memory: 512, rate: 50, auctions: 100, life: 120 };

/** The faults of an otherwise good run, of which the pod keeps these MB of RSS and of heap after each round. */
function faultsAfter(rounds: readonly (readonly [resident: number, heap: number])[]): string[] {
  const outcome: SoakOutcome = {
    samples: [{ minutes: 1, residentMb: 300, connections: 4000, deliveries: 1, shed: 1 }],
    report: { opened: 2, messages: 1, shed: 1, closed: {}, failed: 0, faults: [] },
    beforeClients: { residentBytes: 100 * 2 ** 20, heapBytes: 20 * 2 ** 20 },
    kept: rounds.map(([resident, heap]) => ({ residentBytes: resident * 2 ** 20, heapBytes: heap * 2 ** 20 })),
    refused: 1,
  };
  return faultsOf(PLAN, outcome);
}

describe('faultsOf', () => {
  it('finds none when memory stays within its bounds after the first round, however much it grew in that one', () => {
    assert.deepEqual(
      faultsAfter([
        [120, 30],
        [135, 33],
        [136, 34],
      ]),
      [],
    );
  });

  it('names the memory that grew beyond its bound after the first round', () => {
    assert.deepEqual(
      faultsAfter([
        [120, 30],
        [120, 35],
      ]),
      ['the heap without clients grew: 30.0, 35.0 MB'],
    );
    assert.deepEqual(
      faultsAfter([
        [120, 30],
        [137, 30],
      ]),
      ['RSS without clients grew: 120.0, 137.0 MB'],
    );
  });
});
