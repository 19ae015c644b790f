import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createFacts } from '../../../../src/graph/context/connection-facts.ts';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import { createContext } from '../../../../src/graph/context/context.ts';
import { connectionOf, factsWith, observe, programOf } from '../../../graph/context/random-programs.ts';
import { play } from './renewal-player.ts';
import type { Case, Outcome, PlayOptions, Step } from './renewal-player.ts';

const subOf = fc.constantFrom('ida', 'bob', 'eve', 'joe');

/** Facts of one of four users. */
const userOf = fc
  .record({ facts: connectionOf, sub: subOf })
  .map(({ facts, sub }) => createFacts(facts, { ...facts.claims, sub }));

const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('publish' as const), isLate: fc.boolean(), isPrivate: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('renew' as const),
      who: fc.nat(3),
      facts: userOf,
      isConfirmed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refresh' as const), who: fc.nat(3), exp: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('confirm' as const), who: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), sub: subOf }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const), which: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
);

const caseOf: fc.Arbitrary<Case> = fc.record({
  program: programOf,
  connections: fc.array(userOf, { minLength: 2, maxLength: 4 }),
  steps: fc.array(stepOf, { minLength: 3, maxLength: 25 }),
  jitAfterUses: fc.constantFrom(0, 1),
});
const NO_BACKENDS = { send: () => Promise.reject(new Error('there is none')) };

/** A held result, whose user changed meanwhile, is delivered while the revocation of that user is carried out: before its answer. */
export const DELIVERED_BESIDE_REVOCATION: Case = {
  program: [{ ask: 'get', key: 'claims' }],
  connections: [factsWith({ sub: 'ida' }), factsWith({ sub: 'ida' })],
  steps: [
    { do: 'publish', isLate: true, isPrivate: false },
    { do: 'publish', isLate: false, isPrivate: false },
    { do: 'settle', which: 0 },
    { do: 'renew', who: 0, facts: factsWith({ sub: 'eve' }), isConfirmed: true },
    { do: 'revoke', sub: 'ida' },
    { do: 'revoke', sub: 'eve' },
  ],
  jitAfterUses: 1,
};

/**
 * Claims change and users are revoked at random while events are executed by random resolvers. No operation receives a result that was
 * computed from facts which it had neither when that execution began nor later, nor any result once its user is revoked. For the others none
 * is lost or out of order.
 */
export function renewalProperty(options: Partial<PlayOptions> = {}) {
  return fc.asyncProperty(caseOf, async (given) => {
    const { played, revokedAt } = await play(given, { hasSharing: true, ...options });
    for (const { tenures, deliveredAt, results } of played) {
      results.forEach((_, i) => {
        const { claims } = tenures.findLast(({ since }) => since <= deliveredAt[i]!)!.facts;
        const sub = String(claims['sub']);
        assert.ok(deliveredAt[i]! < (revokedAt.get(sub) ?? Infinity), `event ${i}: ${sub} is revoked`);
      });
      results.forEach(({ n, begunAt, before, after }, i) => {
        assert.equal(n, i, 'lost or out of order');
        assert.deepEqual(after, before, 'facts changed within an execution');
        if (before === 'open') return;
        const allowed = tenures.filter(({ since }, at) => {
          const until = tenures[at + 1]?.since ?? Infinity;
          return since <= deliveredAt[i]! && until >= begunAt;
        });
        const own = allowed.map(({ facts }) => JSON.stringify(observedAlone(given, facts)));
        assert.ok(
          own.includes(JSON.stringify(before)),
          `event ${i}: ${JSON.stringify(before)} is none of ${own.join()}`,
        );
      });
    }
  });
}

/** The same results with sharing and without it. */
export function renewalDifference() {
  return fc.asyncProperty(caseOf, async (given) => {
    const shared = await play(given, { hasSharing: true, isSettled: true });
    const alone = await play(given, { hasSharing: false, isSettled: true });
    const shown = ({ played }: Outcome) => played.map(({ results }) => results.map(({ n, before }) => [n, before]));
    assert.deepEqual(shown(shared), shown(alone));
  });
}

/** What an execution with these facts alone reads, as JSON has it. */
function observedAlone({ program }: Case, facts: ConnectionFacts): unknown {
  return JSON.parse(JSON.stringify(observe(program, createContext({}, NO_BACKENDS, facts).connection)));
}
