import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LEAD_MS, countDue, longestLeadMs } from '../../../src/gateway/connections/expiry-plan.ts';

const TICK_MS = 500;
/** Closes that take this long, in ms, are still in time. */
const CLOSE_MS = 0.1;

type Plan = typeof countDue;

const FIXED_LEAD: Plan = (expiriesMs, nowMs) => expiriesMs.filter((expiryMs) => expiryMs <= nowMs + LEAD_MS).length;

/** How long before its expiry each connection is closed, in ms, if each tick plans anew and closes follow each other. */
function leadsOf(expiriesMs: readonly number[], plan: Plan): number[] {
  const leads: number[] = [];
  for (let tickMs = 0, closed = 0; closed < expiriesMs.length; tickMs += TICK_MS) {
    const due = plan(expiriesMs.slice(closed), tickMs);
    const closable = Math.min(due, TICK_MS / CLOSE_MS);
    for (let i = 0; i < closable; i++) leads.push(expiriesMs[closed++]! - (tickMs + (i + 1) * CLOSE_MS));
  }
  return leads;
}

/** Groups of connections that expire together; each is known in time. */
const expiriesOf = fc
  .array(fc.record({ atMs: fc.nat(20_000), count: fc.constantFrom(1, 100, 3_000, 10_000) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((groups) => {
    const expiries = groups.flatMap(({ atMs, count }) => Array<number>(count).fill(atMs)).toSorted((a, b) => a - b);
    return expiries.map((atMs) => atMs + longestLeadMs(expiries.length));
  });

describe('the plan of closes', () => {
  it('closes each connection before its expiry, however many expire together (S-15)', () => {
    fc.assert(
      fc.property(expiriesOf, (expiries) => {
        for (const lead of leadsOf(expiries, countDue))
          assert.ok(lead >= 0 && lead <= longestLeadMs(expiries.length), String(lead));
      }),
      { numRuns: 30 },
    );
  });

  it('would close half of 20,000 too late with a fixed lead (twin of S-15)', () => {
    const expiries = Array<number>(20_000).fill(10_000);
    const late = (plan: Plan) => leadsOf(expiries, plan).filter((lead) => lead < 0).length;
    assert.equal(late(countDue), 0);
    assert.ok(late(FIXED_LEAD) >= 9_000);
  });

  it('closes few connections a second before their expiry', () => {
    assert.equal(countDue([10_000], 8_999), 0);
    assert.equal(countDue([10_000, 12_000], 9_000), 1);
    assert.equal(countDue([], 0), 0);
  });
});
