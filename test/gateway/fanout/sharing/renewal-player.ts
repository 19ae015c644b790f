import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PodConnections } from '../../../../src/ops/admin/pod-connections.ts';
import { createFacts } from '../../../../src/graph/context/connection-facts.ts';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { printRevocation } from '../../../../src/gateway/identity/revocation.ts';
import type { Revocation } from '../../../../src/gateway/identity/revocation.ts';
import { Revocations } from '../../../../src/gateway/identity/revocations.ts';
import type { Connection } from '../../../../src/gateway/websocket/connection.ts';
import { observe } from '../../../graph/context/random-programs.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { createStage } from '../stage.ts';
import type { Listener } from '../stage.ts';
import { ChangingFacts } from './changing-facts.ts';

export type Step =
  | { readonly do: 'publish'; readonly isLate: boolean; readonly isPrivate: boolean }
  | { readonly do: 'renew'; readonly who: number; readonly facts: ConnectionFacts; readonly isConfirmed: boolean }
  | { readonly do: 'refresh'; readonly who: number; readonly exp: number }
  | { readonly do: 'confirm'; readonly who: number }
  | { readonly do: 'revoke'; readonly sub: string }
  | { readonly do: 'settle'; readonly which: number }
  | { readonly do: 'turn' };

export interface Case {
  readonly program: Parameters<typeof observe>[0];
  readonly connections: readonly ConnectionFacts[];
  readonly steps: readonly Step[];
  readonly jitAfterUses: number;
}

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
export interface Played {
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

export interface Outcome {
  readonly played: readonly Played[];
  /** When the first revocation of each user was answered: until then a result may still be delivered. */
  readonly revokedAt: ReadonlyMap<string, number>;
}

interface Source {
  readonly is_late: boolean;
  readonly is_private: boolean;
}

const MAX_TURNS = 10_000;
const SDL = `
  type Subscription { event: Event @kafka(topic: "t", payload: "event") }
  type Event { n: Int is_late: Boolean is_private: Boolean value: Any }
  scalar Any`;
const QUERY = 'subscription { event { n value } }';

/** Plays a case: connections of one channel whose claims change, and of which some are revoked, while events are executed. */
export async function play(given: Case, options: PlayOptions): Promise<Outcome> {
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
        await pod.answer({ revoke: printRevocation(revocationOf(step.sub)) });
        this.#keep();
        this.#time++;
        if (!this.#revokedAt.has(step.sub)) this.#revokedAt.set(step.sub, this.#time);
      } else {
        const peer = this.#peers[step.who % this.#peers.length]!;
        if (step.do === 'confirm') peer.listener.subscription.confirm();
        else if (step.do === 'refresh') this.#refresh(peer, step.exp);
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

  /** As a connection whose next token grants the same. */
  #refresh(peer: Peer, exp: number): void {
    const { subscription } = peer.listener;
    if (peer.isEnded || subscription.facts instanceof ChangingFacts) return;
    const facts = createFacts(subscription.facts, { ...subscription.facts.claims, exp });
    peer.played.tenures.push({ since: this.#time, facts });
    subscription.replaceFacts(facts);
  }

  /** As a connection whose next token grants something else; a revoked one closes it. */
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
