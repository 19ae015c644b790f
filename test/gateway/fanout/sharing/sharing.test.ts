import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import { TRANSPORT_WS } from '../../../../src/gateway/websocket/transport-ws.ts';
import { createContext, readsOf } from '../../../../src/graph/context/context.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { EventBatch } from '../../../../src/gateway/fanout/scheduling/event-batch.ts';
import type { Job } from '../../../../src/gateway/fanout/scheduling/turn-slices.ts';
import type { StartedEvent } from '../../../../src/graph/execution/event-executor.ts';
import { SharingGroup } from '../../../../src/gateway/fanout/sharing/sharing-group.ts';
import { Executions } from '../../../../src/graph/execution/executions.ts';
import { SharedEvent } from '../../../../src/gateway/fanout/sharing/sharing.ts';
import type { SharedEventOptions } from '../../../../src/gateway/fanout/sharing/sharing.ts';
import { Subscription } from '../../../../src/gateway/fanout/subscription.ts';
import { WaitLists } from '../../../../src/gateway/fanout/outbox/wait-list.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import { anyOperation } from '../../../support/any-operation.ts';
import { replyOf } from '../../../graph/context/reply-of.ts';

const OPERATION = anyOperation();

const backends = { send: () => Promise.resolve(replyOf(null)) };

/** `onSend` is called before each message; it may throw. */
function memberOf(facts: ConnectionFacts, onSend: () => void = () => undefined) {
  const received: string[] = [];
  const failures: unknown[] = [];
  const subscription = new Subscription({
    id: '1',
    operation: OPERATION,
    variables: undefined,
    facts,
    outbox: {
      format: TRANSPORT_WS,
      sendParts: (prefix, { pieces }) => {
        onSend();
        // The results of these tests are numbers and strings, without a brace for `resultBytesOf` to close.
        const text = Buffer.concat([prefix, ...pieces])
          .toString()
          .slice(0, -1);
        const message = JSON.parse(text) as { payload: unknown };
        return received.push(JSON.stringify(message.payload)) > 0;
      },
      isBackpressured: false,
      isBehind: false,
      waitList: (wait) => new WaitLists()[wait],
      passRoom: () => undefined,
    },
    owner: {
      onFailure: (error) => void failures.push(error),
      onComplete: () => assert.fail('completed'),
      onBehind: () => assert.fail('behind'),
    },
    maxPendingEvents: 100,
  });
  return { subscription, received, failures };
}

type Execute = StartedEvent['execute'];

const NOT_SPENT = () => false;
const sharedEvent = (
  group: SharingGroup,
  execute: Execute,
  schedule: (job: Job) => void,
  options?: SharedEventOptions,
): SharedEvent =>
  new SharedEvent(group, { execute, repeat: execute }, { schedule, executions: new Executions() }, options);
const serveAll = (serve: Job) => void serve(NOT_SPENT);

/** Serves events that arrived in one turn. */
function serve(group: SharingGroup, payloads: readonly number[], startEvent: (payload: number) => Execute): void {
  const batch = new EventBatch(group, { onShared: () => undefined, onServed: () => undefined, isHeld: () => false });
  for (const payload of payloads) batch.add(sharedEvent(group, startEvent(payload), serveAll), 1);
  serveAll(batch.serve);
}

/** Reads of a random resolver. The values read so far decide which fact it reads next. */
type Read = (claims: Record<string, unknown>, key: string) => unknown;
const READS: readonly Read[] = [
  (claims, key) => claims[key],
  (claims, key) => key in claims,
  (claims, key) => Object.hasOwn(claims, key),
  (claims) => Object.keys(claims),
  (claims) => ({ ...claims }),
  (claims) => JSON.stringify(claims),
  (claims, key) => (claims[key] as Record<string, unknown> | undefined)?.['a'],
  (claims, key) => (Array.isArray(claims[key]) ? (claims[key] as unknown[]).length : claims[key] === null),
];

interface Step {
  readonly read: number;
  readonly key: string;
  readonly isLate: boolean;
  readonly isFailing: boolean;
}

function* run(program: readonly Step[], payload: number, { connection }: ExecutionContext): Generator<Step, string> {
  const seen: unknown[] = [];
  for (let i = 0; i < 4; i++) {
    const text = JSON.stringify(seen);
    let hash = payload;
    for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
    const step = program[hash % program.length]!;
    yield step;
    if (step.isFailing && hash % 3 === 0) return JSON.stringify({ errors: seen });
    seen.push(READS[step.read]!(connection.claims, step.key) ?? 'none');
  }
  return JSON.stringify({ data: seen });
}

function executeSync(program: readonly Step[], payload: number, context: ExecutionContext): string {
  const running = run(program, payload, context);
  for (;;) {
    const { done, value } = running.next();
    if (done) return value;
  }
}

async function executeLate(program: readonly Step[], payload: number, context: ExecutionContext): Promise<string> {
  const running = run(program, payload, context);
  for (;;) {
    const { done, value } = running.next();
    if (done) return value;
    if (value.isLate) await Promise.resolve();
  }
}

const key = fc.constantFrom('a', 'b', 'c');
const leaf = fc.constantFrom<unknown[]>(0, 1, 'x', null);
const value = fc.oneof(leaf, fc.array(leaf, { maxLength: 2 }), fc.dictionary(key, leaf, { maxKeys: 2 }));
const claims = fc.dictionary(key, value, { maxKeys: 3 });
/** Claims of members, with few distinct values, so that many members share. */
const memberClaims = fc
  .tuple(fc.array(claims, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(2), { minLength: 2, maxLength: 7 }))
  .map(([kinds, who]) => who.map((index) => kinds[index % kinds.length]!));
const program = fc.array(
  fc.record({ read: fc.nat(READS.length - 1), key, isLate: fc.boolean(), isFailing: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
);

describe('a shared result', () => {
  it('equals the unshared one: random resolvers, random facts, 10,000 cases', async () => {
    let executions = 0;
    let deliveries = 0;
    await fc.assert(
      fc.asyncProperty(
        memberClaims,
        program,
        fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (people, steps, payloads, isLate) => {
          const group = new SharingGroup('g');
          const members = people.map((of, index) => memberOf(factsOf(`c${index}`, of)));
          for (const { subscription } of members) group.members.add(subscription);
          const startEvent =
            (payload: number): Execute =>
            ({ facts }) => {
              executions++;
              const context = createContext({}, backends, facts);
              if (!isLate)
                return { json: [Buffer.from(executeSync(steps, payload, context))], reads: readsOf(context) };
              return executeLate(steps, payload, context).then((json) => ({
                json: [Buffer.from(json)],
                reads: readsOf(context),
              }));
            };
          serve(group, payloads, startEvent);
          for (let turns = 0; members.some(({ received }) => received.length < payloads.length); turns++) {
            assert.ok(turns < 1000, 'a result never came');
            await Promise.resolve();
          }
          for (const { subscription, received } of members) {
            deliveries += received.length;
            const own = payloads.map((payload) =>
              executeSync(steps, payload, createContext({}, backends, subscription.facts)),
            );
            assert.deepEqual(received, own);
          }
        },
      ),
      { numRuns: 10_000 },
    );
    assert.ok(executions < 0.7 * deliveries, `${executions} executions for ${deliveries} deliveries share too little`);
  });

  it('needs one execution for each answer class, and reads the facts of each member once, not once per event', () => {
    const group = new SharingGroup('g');
    let asked = 0;
    const members = Array.from({ length: 1000 }, (_, index) => {
      const facts = factsOf(`c${index}`, { tenant: index % 50 });
      const watched: ConnectionFacts = {
        id: facts.id,
        headers: facts.headers,
        params: facts.params,
        address: facts.address,
        get claims() {
          asked++;
          return facts.claims;
        },
      };
      const member = memberOf(watched);
      group.members.add(member.subscription);
      return member;
    });
    let executions = 0;
    const execute: Execute = ({ facts }) => {
      executions++;
      const context = createContext({}, backends, facts);
      return { json: [Buffer.from(JSON.stringify(context.connection.claims['tenant']))], reads: readsOf(context) };
    };
    for (let event = 0; event < 10; event++) serve(group, [event], () => execute);
    assert.equal(executions, 10 * 50);
    assert.ok(asked < 1000 + 10 * 50 * 3, `claims were read ${asked} times`);
    members.forEach(({ received }, index) => assert.deepEqual(received, Array(10).fill(String(index % 50))));
  });

  it('waits for at most two executions of other members', async () => {
    const group = new SharingGroup('g');
    const members = Array.from({ length: 20 }, (_, index) => memberOf(factsOf(`c${index}`, { name: `n${index}` })));
    for (const { subscription } of members) group.members.add(subscription);
    let rounds = 0;
    let started = 0;
    const execute: Execute = async ({ facts }) => {
      started++;
      await new Promise((resolve) => setImmediate(resolve));
      const context = createContext({}, backends, facts);
      // Each member reads a claim that no other member reads.
      const name = facts.claims['name'] as string;
      const json = JSON.stringify([name, context.connection.claims['name'] && context.connection.claims[name]]);
      return { json: [Buffer.from(json)], reads: readsOf(context) };
    };
    serve(group, [0], () => execute);
    while (members.some(({ received }) => received.length === 0)) {
      rounds++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(started, 20);
    assert.ok(rounds <= 6, `${rounds} turns`);
    members.forEach(({ received }, index) => assert.deepEqual(received, [JSON.stringify([`n${index}`, null])]));
  });

  it('waits for at most two executions of other members that each read one fact more', async () => {
    // Each member reads one claim more than the previous one, with equal values up to there.
    const members = Array.from({ length: 20 }, (_, index) =>
      memberOf(factsOf(`c${index}`, Object.fromEntries(Array.from({ length: index }, (__, i) => [`k${i}`, true])))),
    );
    const group = new SharingGroup('g');
    for (const { subscription } of members) group.members.add(subscription);
    let rounds = 0;
    serve(group, [0], () => async ({ facts }) => {
      await new Promise((resolve) => setImmediate(resolve));
      const context = createContext({}, backends, facts);
      let count = 0;
      while (context.connection.claims[`k${count}`]) count++;
      return { json: [Buffer.from(String(count))], reads: readsOf(context) };
    });
    while (members.some(({ received }) => received.length === 0)) {
      assert.ok(++rounds <= 6, `${rounds} turns`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    members.forEach(({ received }, index) => assert.deepEqual(received, [String(index)]));
  });

  it('reaches the members that have not left, even if it was computed for a member that has left', async () => {
    const group = new SharingGroup('g');
    const members = Array.from({ length: 3 }, (_, index) => memberOf(factsOf(`c${index}`, {})));
    for (const { subscription } of members) group.members.add(subscription);
    let settle = (): void => undefined;
    const execute: Execute = () =>
      new Promise((resolve) => {
        settle = () => resolve({ json: [Buffer.from('1')], reads: undefined });
      });
    serve(group, [0], () => execute);
    const [leader, waiting, gone] = members;
    for (const { subscription } of [leader!, gone!]) {
      subscription.end();
      group.delete(subscription);
    }
    settle();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([leader!.received, waiting!.received, gone!.received], [[], ['1'], []]);
  });
});

describe('a group', () => {
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  /** Reads one claim. */
  const readsClaim = (facts: ConnectionFacts, claim: string) => {
    const context = createContext({}, backends, facts);
    const json = [Buffer.from(JSON.stringify(context.connection.claims[claim] ?? null))];
    return { json, reads: readsOf(context) };
  };

  async function assertCollected(refs: readonly WeakRef<object>[]): Promise<void> {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await waitFor('the members to be collected', () => {
      collect();
      // One member may still be in a register of this function's caller.
      return refs.filter((ref) => ref.deref()).length <= 1;
    });
  }

  it('keeps no reference to members that left, whatever their executions read', async () => {
    const group = new SharingGroup('g');
    const staying = memberOf(factsOf('s', { tenant: 1 }));
    group.members.add(staying.subscription);
    const refs: WeakRef<object>[] = [];
    for (let i = 0; i < 20; i++) {
      const { subscription } = memberOf(factsOf(`c${i}`, { tenant: i % 2 }));
      group.members.add(subscription);
      serve(
        group,
        [1],
        () =>
          ({ facts }) =>
            readsClaim(facts, 'tenant'),
      );
      subscription.end();
      group.delete(subscription);
      refs.push(new WeakRef(subscription));
    }
    await assertCollected(refs);
    assert.equal(staying.received.length, 20);
  });

  it('keeps no reference to a member that left during its execution', async () => {
    const group = new SharingGroup('g');
    group.members.add(memberOf(factsOf('s', { tenant: 1 })).subscription);
    const refs: WeakRef<object>[] = [];
    for (let i = 0; i < 20; i++) {
      const { subscription } = memberOf(factsOf(`c${i}`, { tenant: `t${i}` }));
      group.members.add(subscription);
      serve(group, [1], () => async ({ facts }) => {
        await nextTurn();
        return readsClaim(facts, 'tenant');
      });
      subscription.end();
      group.delete(subscription);
      refs.push(new WeakRef(subscription));
      await nextTurn();
      await nextTurn();
    }
    await assertCollected(refs);
  });

  it('remembers the eight latest read sets', () => {
    const group = new SharingGroup('g');
    const reads = Array.from({ length: 9 }, (_, i) => readsClaim(factsOf('a', {}), `claim${i}`).reads);
    const first = group.classesFor(reads[0]);
    for (const others of reads.slice(1, 8)) group.classesFor(others);
    assert.equal(group.classesFor(reads[0]), first);
    assert.equal(group.expected, first);
    for (const others of reads.slice(1)) group.classesFor(others);
    assert.notEqual(group.classesFor(reads[0]), first);
  });

  it('keeps a result only if another member may share it', () => {
    const group = new SharingGroup('g');
    const join = (id: string, tenant: number) => {
      const member = memberOf(factsOf(id, { id, tenant }));
      group.members.add(member.subscription);
      return member.subscription;
    };
    const [leaving] = [join('a', 1), join('b', 1), join('c', 2)];
    /** Number of results kept for an event, and of its executions. */
    const countsOf = (claim: string) => {
      let [kept, executions] = [0, 0];
      const execute: Execute = ({ facts }) => {
        executions++;
        return readsClaim(facts, claim);
      };
      const onKeep = (bytes: number) => {
        assert.ok(bytes > 0);
        kept++;
      };
      const event = sharedEvent(group, execute, () => assert.fail('a job'), { onKeep });
      for (const member of group.members) event.serve(member);
      return [kept, executions];
    };
    // At the first event the group does not know yet what executions read.
    assert.deepEqual([countsOf('id'), countsOf('id')], [[2, 3], [0, 3]]); // prettier-ignore
    assert.deepEqual([countsOf('tenant'), countsOf('tenant')], [[1, 2], [1, 2]]); // prettier-ignore
    group.delete(leaving);
    assert.deepEqual(countsOf('tenant'), [0, 2]);
    join('d', 1);
    assert.deepEqual([countsOf('tenant'), countsOf('tenant'), countsOf('none')], [[2, 2], [1, 2], [1, 1]]); // prettier-ignore
  });

  it('does not grow with the facts of members that have left', () => {
    const group = new SharingGroup('g');
    group.members.add(memberOf(factsOf('s', { token: '' })).subscription);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const visit = (count: number) => {
      for (let i = 0; i < count; i++) {
        const { subscription } = memberOf(factsOf('c', { token: `${i}`.padEnd(10_000, '.') }));
        group.members.add(subscription);
        serve(group, [1], () => ({ facts }) => readsClaim(facts, 'token')); // prettier-ignore
        subscription.end();
        group.delete(subscription);
      }
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = visit(100);
    const grown = visit(2000) - before;
    assert.ok(grown < 5e6, `${grown} bytes for members that have left`);
  });

  it('of one member keeps no classes, because it shares with no other member', () => {
    const group = new SharingGroup('g');
    const one = memberOf(factsOf('a', {}));
    group.members.add(one.subscription);
    serve(
      group,
      [1],
      () =>
        ({ facts }) =>
          readsClaim(facts, 'x'),
    );
    assert.equal(group.expected, undefined);
    group.members.add(memberOf(factsOf('b', {})).subscription);
    serve(
      group,
      [1],
      () =>
        ({ facts }) =>
          readsClaim(facts, 'x'),
    );
    assert.notEqual(group.expected, undefined);
    assert.deepEqual(one.received, ['null', 'null']);
  });

  it('does not execute for a member that has ended', () => {
    const group = new SharingGroup('g');
    const members = ['a', 'b', 'c'].map((id) => memberOf(factsOf(id, { id })));
    for (const { subscription } of members) group.members.add(subscription);
    let executions = 0;
    serve(group, [1], () => ({ facts }) => {
      executions++;
      members[1]!.subscription.end();
      return readsClaim(facts, 'id');
    });
    assert.equal(executions, 2);
  });

  it('serves 16 waiting members between two reads of the clock', async () => {
    const group = new SharingGroup('g');
    const members = Array.from({ length: 41 }, (_, i) => memberOf(factsOf(`c${i}`, {})));
    for (const { subscription } of members) group.members.add(subscription);
    const jobs: Job[] = [];
    const event = sharedEvent(
      group,
      async ({ facts }) => {
        await nextTurn();
        return readsClaim(facts, 'x');
      },
      (job) => jobs.push(job),
    );
    const haveExecuted = members.map(({ subscription }) => event.serve(subscription));
    assert.deepEqual(haveExecuted, [true, ...Array<boolean>(40).fill(false)]);
    await nextTurn();
    await nextTurn();
    assert.equal(jobs.length, 1);
    const served = () => members.filter(({ received }) => received.length === 1).length;
    const steps: number[] = [];
    let looks = 0;
    for (let isDone = false; !isDone; steps.push(served())) {
      isDone = jobs[0]!(() => ++looks > 0);
      assert.ok(steps.length < 41, 'it is never done');
    }
    assert.deepEqual([steps, looks], [[9, 25, 41], 3]);
    assert.equal(jobs.length, 1);
  });

  it('executes once for each answer class while executions run, and serves the waiting members in one job', async () => {
    const group = new SharingGroup('g');
    const members = Array.from({ length: 5 }, (_, i) => memberOf(factsOf(`c${i}`, { tenant: i % 3 })));
    for (const { subscription } of members) group.members.add(subscription);
    serve(
      group,
      [0],
      () =>
        ({ facts }) =>
          readsClaim(facts, 'tenant'),
    );
    const jobs: Job[] = [];
    let executions = 0;
    const event = sharedEvent(
      group,
      async ({ facts }) => {
        executions++;
        await nextTurn();
        return readsClaim(facts, 'tenant');
      },
      (job) => jobs.push(job),
    );
    // No member waits for the third execution.
    for (const { subscription } of members) event.serve(subscription);
    assert.equal(executions, 3);
    await nextTurn();
    await nextTurn();
    assert.equal(jobs.length, 1);
    assert.equal(jobs[0]!(NOT_SPENT), true);
    assert.equal(executions, 3);
    members.forEach(({ received }, i) => assert.deepEqual(received, Array(2).fill(String(i % 3))));
  });

  it('lets a member wait for two executions in sequence before it gets its own', async () => {
    const group = new SharingGroup('g');
    const members = [1, 2, 2, 2].map((tenant, i) => memberOf(factsOf(`c${i}`, { tenant })));
    for (const { subscription } of members) group.members.add(subscription);
    let executions = 0;
    serve(group, [0], () => async ({ facts }) => {
      executions++;
      await nextTurn();
      return readsClaim(facts, 'tenant');
    });
    // All members wait for the first execution, whose result none of them can share, then for the second.
    await waitFor('all members', () => members.every(({ received }) => received.length === 1));
    assert.deepEqual(
      members.map(({ received }) => received),
      [['1'], ['2'], ['2'], ['2']],
    );
    assert.equal(executions, 2);
  });

  it('waits for an execution that began before anything was known of its reads, once the reads are known', async () => {
    const group = new SharingGroup('g');
    const members = [1, 1, 2].map((tenant, i) => memberOf(factsOf(`c${i}`, { tenant })));
    for (const { subscription } of members) group.members.add(subscription);
    let executions = 0;
    let settle = () => {};
    const settled = new Promise<void>((resolve) => (settle = resolve));
    const late = sharedEvent(
      group,
      async ({ facts }) => {
        executions++;
        await settled;
        return readsClaim(facts, 'tenant');
      },
      serveAll,
    );
    late.serve(members[0]!.subscription);
    // Of another event, which tells of the reads.
    const known = sharedEvent(group, ({ facts }) => readsClaim(facts, 'tenant'), serveAll);
    for (const { subscription } of members) known.serve(subscription);
    for (const { subscription } of members.slice(1)) late.serve(subscription);
    assert.equal(executions, 1);
    settle();
    await waitFor('all members', () => members.every(({ received }) => received.length === 2));
    assert.equal(executions, 2);
    for (const [i, text] of ['1', '1', '2'].entries()) assert.deepEqual(members[i]!.received, [text, text]);
  });

  it('serves more waiting members than one call can have arguments', async () => {
    const group = new SharingGroup('g');
    let served = 0;
    const facts = factsOf('c', {});
    for (let i = 0; i < 150_000; i++) {
      const { subscription } = memberOf(facts);
      subscription.deliver = () => void served++;
      group.members.add(subscription);
    }
    serve(group, [1], () => () => Promise.resolve({ json: [Buffer.from('1')], reads: undefined }));
    await waitFor('the members', () => served === group.members.size);
  });

  it('schedules no job if no member waited', async () => {
    const group = new SharingGroup('g');
    const one = memberOf(factsOf('a', {}));
    group.members.add(one.subscription);
    const event = sharedEvent(
      group,
      ({ facts }) => Promise.resolve(readsClaim(facts, 'x')),
      () => assert.fail('a job'),
    );
    event.serve(one.subscription);
    await nextTurn();
    assert.deepEqual(one.received, ['null']);
  });

  it('looks up results of an event by its first four read sets', () => {
    const group = new SharingGroup('g');
    // Each execution reads the claim that `reads` names. The second six members agree with the first six in that claim only.
    const claims = ['c0', 'c0', 'c1', 'c2', 'c3', 'c4'];
    const members = ['first', 'second'].flatMap((half) =>
      claims.map(
        (reads, i) =>
        memberOf(factsOf(`${half}${i}`, { ...Object.fromEntries(claims.map((claim) => [claim, `${half}${i}`])), [reads]: i, reads })), // prettier-ignore
      ),
    );
    for (const { subscription } of members) group.members.add(subscription);
    const executed: string[] = [];
    serve(group, [0], () => ({ facts }) => {
      executed.push(facts.id);
      return readsClaim(facts, facts.claims['reads'] as string);
    });
    assert.deepEqual(executed, ['first0', 'first1', 'first2', 'first3', 'first4', 'first5', 'second5']);
    members.forEach(({ received }, i) => assert.deepEqual(received, [String(i % 6)]));
  });

  it('lets no member wait for a settled execution if reads vary within one event', async () => {
    const group = new SharingGroup('g');
    const [one, waiting, other] = [
      { a: 1, b: 1 },
      { a: 1, b: 2 },
      { a: 2, b: 3 },
    ].map((of, i) => memberOf(factsOf(`c${i}`, of)));
    for (const { subscription } of [one!, waiting!, other!]) group.members.add(subscription);
    serve(
      group,
      [0],
      () =>
        ({ facts }) =>
          readsClaim(facts, 'a'),
    );
    const settles = new Map<ConnectionFacts, () => void>();
    const jobs: Job[] = [];
    const event = sharedEvent(
      group,
      ({ facts }) =>
        new Promise((resolve) => {
          settles.set(facts, () => resolve(readsClaim(facts, facts === one!.subscription.facts ? 'b' : 'a')));
        }),
      (job) => jobs.push(job),
    );
    for (const { subscription } of [one!, waiting!, other!]) event.serve(subscription);
    const settle = async (member: typeof one) => {
      settles.get(member!.subscription.facts)!();
      await nextTurn();
    };
    // `waiting` waits for `one`, which reads `b`, where the two differ. Then `a` is expected again, where they agree.
    assert.equal(settles.size, 2);
    await settle(one);
    await settle(other);
    for (const job of jobs) job(NOT_SPENT);
    assert.equal(settles.size, 3);
    await settle(waiting);
    assert.deepEqual(
      [one, waiting, other].map((member) => member!.received[1]),
      ['1', '1', '2'],
    );
  });
});

describe('a failure in the middle of an event', () => {
  const result = (text: string) => ({ json: [Buffer.from(text)], reads: undefined });
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

  function groupOf(members: readonly ReturnType<typeof memberOf>[]): SharingGroup {
    const group = new SharingGroup('g');
    for (const { subscription } of members) group.members.add(subscription);
    return group;
  }

  it('ends the operation whose execution throws, once, and serves the others, this event and the next', () => {
    const members = Array.from({ length: 40 }, (_, index) => memberOf(factsOf(`c${index}`, { index })));
    const failure = new Error('of the execution');
    serve(groupOf(members), [1, 2], (payload) => ({ facts }) => {
      if (facts.claims['index'] === 0) throw failure;
      return result(String(payload));
    });
    const [first, ...others] = members;
    assert.deepEqual([first!.received, first!.failures, first!.subscription.isEnded], [[], [failure], true]);
    for (const { received, failures } of others) assert.deepEqual([received, failures], [['1', '2'], []]);
  });

  it('ends the operation whose sink throws, and serves the others', () => {
    const failure = new Error('of the sink');
    const broken = memberOf(factsOf('b', {}), () => {
      throw failure;
    });
    const members = [memberOf(factsOf('a', {})), broken, memberOf(factsOf('c', {}))];
    serve(groupOf(members), [1, 2], (payload) => () => result(String(payload)));
    assert.deepEqual(broken.failures, [failure]);
    const event = sharedEvent(groupOf(members), () => result('3'), serveAll);
    assert.deepEqual(
      members.map(({ subscription }) => event.serve(subscription)),
      [true, false, false],
    );
    for (const { received } of [members[0]!, members[2]!]) assert.deepEqual(received, ['1', '2', '3']);
  });

  it('ends the operation whose facts throw when they are read, and serves the others', () => {
    const { id, headers, params, address } = factsOf('b', {});
    const failure = new Error('of the facts');
    const unreadable: ConnectionFacts = {
      id,
      headers,
      params,
      address,
      get claims(): never {
        throw failure;
      },
    };
    const members = [
      memberOf(factsOf('a', { tenant: 1 })),
      memberOf(unreadable),
      memberOf(factsOf('c', { tenant: 1 })),
    ];
    serve(groupOf(members), [1], () => ({ facts }) => {
      const context = createContext({}, backends, facts);
      return { json: [Buffer.from(String(context.connection.claims['tenant']))], reads: readsOf(context) };
    });
    assert.deepEqual(
      members.map(({ received }) => received),
      [['1'], [], ['1']],
    );
    assert.deepEqual(members[1]!.failures, [failure]);
  });

  it('serves the members that wait for an execution that rejects, or whose result cannot be delivered', async () => {
    const failure = new Error('of the execution');
    const rejecting = memberOf(factsOf('a', { isRejecting: true }));
    const broken = memberOf(factsOf('b', {}), () => {
      throw failure;
    });
    const others = Array.from({ length: 3 }, (_, index) => memberOf(factsOf(`c${index}`, {})));
    let executions = 0;
    serve(groupOf([rejecting, broken, ...others]), [1], () => async ({ facts }) => {
      executions++;
      await nextTurn();
      if (facts.claims['isRejecting']) throw failure;
      return result('1');
    });
    for (let turns = 0; others.some(({ received }) => received.length === 0); turns++) {
      assert.ok(turns < 100, 'a result never came');
      await nextTurn();
    }
    for (const { received, failures } of others) assert.deepEqual([received, failures], [['1'], []]);
    for (const { received, failures } of [rejecting, broken]) assert.deepEqual([received, failures], [[], [failure]]);
    assert.equal(executions, 2);
  });

  it('is reported once if several events of one operation fail', async () => {
    const member = memberOf(factsOf('a', {}));
    serve(groupOf([member]), [1, 2, 3], (payload) => async () => {
      await nextTurn();
      throw new Error(String(payload));
    });
    await nextTurn();
    await nextTurn();
    assert.deepEqual(member.failures.map(String), ['Error: 1']);
  });
});

describe('operations share', () => {
  const SDL = `
    type Subscription {
      item(id: ID!, f: Filter, n: Float, l: Int = 3): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item")
      alone(id: ID!): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item", shared: false)
    }
    input Filter { a: Int b: Int }
    scalar Any
    type Item { id: ID }`;
  const QUERY =
    'subscription ($id: ID!, $f: Filter, $n: Float, $l: Int = 3) { item(id: $id, f: $f, n: $n, l: $l) { id } }';

  for (const [what, one, other, count] of [
    ['the same', { id: '1' }, { id: '1' }, 1],
    ['an ID as number and as text', { id: 1 }, { id: '1' }, 1],
    ['another order', { id: '1', f: { a: 1, b: 2 } }, { f: { b: 2, a: 1 }, id: '1' }, 1],
    ['a default, given and left out', { id: '1', l: 3 }, { id: '1' }, 1],
    ['a variable that does not exist', { id: '1', other: 1 }, { id: '1' }, 1],
    ['null and left out', { id: '1', f: null }, { id: '1' }, 2],
    ['an inner null and left out', { id: '1', f: { a: 1, b: null } }, { id: '1', f: { a: 1 } }, 2],
    ['swapped values', { id: '1', f: { a: 1, b: 2 } }, { id: '1', f: { a: 2, b: 1 } }, 2],
    ['zero and minus zero', { id: '1', n: 0 }, { id: '1', n: -0 }, 2],
  ] as const) {
    it(`${count === 1 ? 'for' : 'not for'} variables that are ${what} (S-58)`, async (t) => {
      const stage = await createStage(t, { sdl: SDL, hasSharing: true });
      await stage.join(QUERY, factsOf('a', {}), one);
      await stage.join(QUERY, factsOf('b', {}), other);
      await stage.publish('t{item.id="1"}', { item: { id: '1' } });
      assert.equal(stage.executions, count);
    });
  }

  it('nothing with sharing off: each event is executed for every operation, under a context of its own', async (t) => {
    const contexts = new Set<object>();
    const resolve = (_: unknown, __: unknown, context: object) => {
      contexts.add(context);
      return 'x';
    };
    const stage = await createStage(t, { sdl: SDL, resolvers: { Item: { id: resolve } }, hasSharing: false });
    const listeners = await Promise.all(
      Array.from({ length: 10 }, () => stage.join(QUERY, factsOf('same', {}), { id: '1' })),
    );
    const message = { channel: 't{item.id="1"}', payload: '{"item":{"id":"1"}}' };
    await publisherOf(stage.bus).publish([message, message, message]);
    await waitFor('all results', () => listeners.every(({ received }) => received.length === 3));
    assert.equal(stage.executions, 30);
    assert.equal(contexts.size, 30);
  });

  it('not for another document, nor for a field with shared: false', async (t) => {
    const stage = await createStage(t, { sdl: SDL, hasSharing: true });
    for (const [index, query] of [
      '{ item(id: 1) { id } }',
      '{ item(id: 1) { i: id } }',
      '{ alone(id: 1) { id } }',
      '{ alone(id: 1) { id } }',
    ].entries())
      // prettier-ignore
      await stage.join(`subscription ${query}`, factsOf(`c${index}`, {}));
    await stage.publish('t{item.id="1"}', { item: { id: '1' } });
    assert.equal(stage.executions, 4);
  });
});
