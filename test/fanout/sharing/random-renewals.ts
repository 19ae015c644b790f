import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { PodConnections } from '../../../src/admin/pod-connections.ts';
import type { ConnectionFacts } from '../../../src/context/connection-facts.ts';
import { createFacts } from '../../../src/context/connection-facts.ts';
import { createContext } from '../../../src/context/context.ts';
import type { ExecutionContext } from '../../../src/context/context.ts';
import { printRevocation } from '../../../src/identity/revocation.ts';
import type { Revocation } from '../../../src/identity/revocation.ts';
import { Revocations } from '../../../src/identity/revocations.ts';
import type { Connection } from '../../../src/websocket/connection.ts';
import { connectionOf, observe, programOf } from '../../context/random-programs.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { createStage } from '../stage.ts';
import type { Listener } from '../stage.ts';
import { ChangingFacts } from './changing-facts.ts';

type Step =
  | { readonly do: 'publish'; readonly isLate: boolean; readonly isPrivate: boolean }
  | { readonly do: 'renew'; readonly who: number; readonly facts: ConnectionFacts; readonly isConfirmed: boolean }
  | { readonly do: 'confirm'; readonly who: number }
  | { readonly do: 'revoke'; readonly sub: string }
  | { readonly do: 'settle'; readonly which: number }
  | { readonly do: 'turn' };

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
  { weight: 1, arbitrary: fc.record({ do: fc.constant('confirm' as const), who: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), sub: subOf }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const), which: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
);

const caseOf = fc.record({
  program: programOf,
  connections: fc.array(userOf, { minLength: 2, maxLength: 4 }),
  steps: fc.array(stepOf, { minLength: 3, maxLength: 25 }),
  jitAfterUses: fc.constantFrom(0, 1),
});
type Case = typeof caseOf extends fc.Arbitrary<infer Value> ? Value : never;

export interface PlayOptions {
  readonly hasSharing: boolean;
  /** False: the negative twin, in which facts change while they are in use. */
  readonly replacesFacts?: boolean;
  /** False: a twin in which a revocation closes no connection. */
  readonly closesRevoked?: boolean;
  /** False: a twin in which refreshes are not compared with revocations. */
  readonly refusesRevoked?: boolean;
  /** True: no execution waits, each event is delivered before the next step, and each renewal is confirmed at once. */
  readonly isSettled?: boolean;
}

/** The facts of an operation, from a time on. */
interface Tenure {
  readonly since: number;
  readonly facts: ConnectionFacts;
}

/** Times count steps. */
interface Played {
  readonly tenures: Tenure[];
  readonly deliveredAt: number[];
  readonly results: {
    readonly n: number;
    /** When the execution began. */
    readonly begunAt: number;
    /** What the execution read of the connection when it began, and before it settled; 'open' if it read nothing. */
    readonly before: unknown;
    readonly after: unknown;
  }[];
}

interface Outcome {
  readonly played: readonly Played[];
  /** When each user was revoked first. */
  readonly revokedAt: ReadonlyMap<string, number>;
}

interface Source {
  readonly is_late: boolean;
  readonly is_private: boolean;
}

const NO_BACKENDS = { send: () => Promise.reject(new Error('there is none')) };
const MAX_TURNS = 10_000;
const SDL = `
  type Subscription { event: Event @kafka(topic: "t", payload: "event") }
  type Event { n: Int is_late: Boolean is_private: Boolean value: Any }
  scalar Any`;
const QUERY = 'subscription { event { n value } }';

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

async function play(given: Case, options: PlayOptions): Promise<Outcome> {
  const ends: (() => void | Promise<void>)[] = [];
  const player = new Player(given, options);
  try {
    const stage = await createStage(
      { after: (end: () => void | Promise<void>) => void ends.push(end) },
      {
        sdl: SDL,
        resolvers: { Event: { value: player.resolve } },
        jitAfterUses: given.jitAfterUses,
        hasSharing: options.hasSharing,
      },
    );
    return await player.play(stage);
  } finally {
    player.settleAll();
    await player.close();
    for (const end of ends.reverse()) await end();
  }
}

class Player {
  readonly #case: Case;
  readonly #options: PlayOptions;
  readonly #begins: number[] = [];
  readonly #peers: Peer[] = [];
  readonly #revocations = new Revocations();
  /** By user. */
  readonly #revokedAt = new Map<string, number>();
  #gates: (() => void)[] = [];
  #time = 0;
  #published = 0;

  constructor(given: Case, options: PlayOptions) {
    this.#case = given;
    this.#options = options;
  }

  readonly resolve = ({ is_late: isLate, is_private: isPrivate }: Source, _: unknown, context: ExecutionContext) => {
    const execution = this.#begins.push(this.#time) - 1;
    const read = () => (isPrivate ? observe(this.#case.program, context.connection) : 'open');
    const before = read();
    if (!isLate || this.#options.isSettled) return [execution, before, read()];
    return new Promise<void>((open) => this.#gates.push(open)).then(() => [execution, before, read()]);
  };

  close(): Promise<void> {
    return this.#revocations.close();
  }

  settleAll(): void {
    for (const open of this.#gates.splice(0)) open();
  }

  async play({ join, bus }: Awaited<ReturnType<typeof createStage>>): Promise<Outcome> {
    const { connections, steps } = this.#case;
    const { replacesFacts = true, closesRevoked = true } = this.#options;
    for (const facts of connections)
      this.#peers.push(new Peer(await join(QUERY, replacesFacts ? facts : new ChangingFacts(facts)), facts));
    const pod = new PodConnections({
      connections: () => (closesRevoked ? (this.#peers as unknown as Connection[]) : []),
      revocations: this.#revocations,
      onRevoked: () => undefined,
    });
    const publisher = publisherOf(bus, 't', 1);
    for (const step of steps) {
      this.#time++;
      if (step.do === 'publish') {
        const event = { n: this.#published++, is_late: step.isLate, is_private: step.isPrivate };
        await publisher.publish([{ channel: 't{}', payload: JSON.stringify({ event }) }]);
        if (this.#options.isSettled) await this.#turnsUntil(() => this.#isComplete);
      } else if (step.do === 'turn') await nextTurn();
      else if (step.do === 'settle') this.#gates.splice(step.which, 1)[0]?.();
      else if (step.do === 'revoke') {
        if (!this.#revokedAt.has(step.sub)) this.#revokedAt.set(step.sub, this.#time);
        await pod.answer({ revoke: printRevocation(revocationOf(step.sub)) });
      } else {
        const peer = this.#peers[step.who % this.#peers.length]!;
        if (step.do === 'confirm') peer.listener.subscription.confirm();
        else this.#renew(peer, step.facts, step.isConfirmed);
      }
      this.#keep();
    }
    this.#time++;
    for (const { listener } of this.#peers) listener.subscription.confirm();
    await this.#turnsUntil(() => this.#isComplete);
    this.#keep();
    return { played: this.#peers.map(({ played }) => played), revokedAt: this.#revokedAt };
  }

  /** True if each open connection has received all events. */
  get #isComplete(): boolean {
    return this.#peers.every(({ isEnded, listener }) => isEnded || listener.received.length === this.#published);
  }

  /** As a connection whose token is refreshed: a revoked one closes it. */
  #renew(peer: Peer, facts: ConnectionFacts, isConfirmed: boolean): void {
    const { refusesRevoked = true } = this.#options;
    const { claims } = facts;
    if (peer.isEnded) return;
    if (refusesRevoked && this.#revocations.refuses({ claims, token: claims })) return peer.revoke();
    peer.played.tenures.push({ since: this.#time, facts });
    const { subscription } = peer.listener;
    if (subscription.facts instanceof ChangingFacts) return void (subscription.facts.current = facts);
    subscription.hold(facts);
    if (isConfirmed || this.#options.isSettled) subscription.confirm();
  }

  async #turnsUntil(isDone: () => boolean): Promise<void> {
    for (let turns = 0; !isDone(); turns++) {
      assert.ok(turns < MAX_TURNS, 'a result is lost');
      this.settleAll();
      await nextTurn();
    }
  }

  #keep(): void {
    for (const { listener, played } of this.#peers) {
      const { deliveredAt, results } = played;
      for (const text of listener.received.slice(results.length)) {
        const { data } = JSON.parse(text) as { data: { event: { n: number; value: [number, unknown, unknown] } } };
        const [execution, before, after] = data.event.value;
        deliveredAt.push(this.#time);
        results.push({ n: data.event.n, begunAt: this.#begins[execution]!, before, after });
      }
    }
  }
}

/** A connection, as far as revocations see it. */
class Peer {
  readonly listener: Listener;
  readonly played: Played;
  isEnded = false;

  constructor(listener: Listener, facts: ConnectionFacts) {
    this.listener = listener;
    this.played = { tenures: [{ since: 0, facts }], deliveredAt: [], results: [] };
  }

  get knownClaims() {
    const { claims } = this.listener.facts;
    return { claims, token: claims };
  }

  revoke(): void {
    this.isEnded = true;
    this.listener.leave();
  }
}

/** Of a user, now. */
function revocationOf(sub: string): Revocation {
  const atMs = Date.now();
  return { name: 'sub', value: sub, atMs, untilMs: atMs + 3_600_000, reason: '' };
}

/** What an execution with these facts alone reads, as JSON has it. */
function observedAlone({ program }: Case, facts: ConnectionFacts): unknown {
  return JSON.parse(JSON.stringify(observe(program, createContext({}, NO_BACKENDS, facts).connection)));
}
