import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConnectionFacts } from '../../../src/graph/context/connection-facts.ts';
import { TRANSPORT_WS } from '../../../src/gateway/websocket/transport-ws.ts';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import type { ResultBytes } from '../../../src/gateway/fanout/outbox/frame.ts';
import { DocumentLane } from '../../../src/graph/documents/document-queue.ts';
import type { EventSource } from '../../../src/graph/event-source.ts';
import type { GraphRuntime } from '../../../src/graph/runtime.ts';
import { LiveOperation } from '../../../src/gateway/operations/live-operation.ts';
import type { LiveOperationServices } from '../../../src/gateway/operations/live-operation-services.ts';
import { SubscriptionTally } from '../../../src/gateway/operations/subscription-tally.ts';
import { createStage, factsOf } from '../fanout/stage.ts';
import type { StageOptions } from '../fanout/stage.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import type { ProtocolMessage } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';

const SDL = `
  type Subscription {
    item: Item @kafka(topic: "t", payload: "item")
    ticks: Tick
  }
  type Item { n: Int tenant: String slow: String }
  type Tick { of: String tenant: String }
  type Query { tenant: String }`;
const QUERY = 'subscription { item { n tenant } }';
const CHANNEL = 't{}';

const ofTenant = (tenant: string) => factsOf('c', { tenant });
const tenantOf = ({ connection }: Pick<ExecutionContext, 'connection'>) => connection.claims['tenant'] as string;

type Authorize = (tenant: string) => unknown;

interface OperationOptions extends Partial<StageOptions> {
  readonly authorize?: Authorize;
  /** Each tenant has a channel of its own. */
  readonly hasTenantChannels?: boolean;
  readonly executionTimeoutMs?: number;
  readonly maxPendingEvents?: number;
  readonly isRouter?: boolean;
  /** Delays the value of `tenant` of an item or of the query. */
  readonly delay?: (n: number | undefined) => Promise<void> | undefined;
  /** Called before the hub joins a channel. */
  readonly onJoin?: () => Promise<void>;
}

/** A gate: `pass` resolves once `open` is called. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), pass: () => opened };
}

/** One operation of a connection without a socket. */
async function createOperation(t: TestContext, options: OperationOptions = {}) {
  const sources: {
    readonly tenant: string;
    readonly push: () => void;
    isReturned: boolean;
    readonly pulled: () => number;
  }[] = [];
  const tenant = ({ n }: { n?: number } = {}, _: unknown, context: ExecutionContext) => {
    const value = tenantOf(context);
    const delay = options.delay?.(n);
    return delay ? delay.then(() => value) : value;
  };
  const stage = await createStage(t, {
    sdl: SDL,
    resolvers: {
      Query: { tenant },
      Item: { tenant },
      Tick: { tenant },
      Subscription: {
        item: { authorize: (_: unknown, context: ExecutionContext) => options.authorize?.(tenantOf(context)) },
        ticks: {
          authorize: (_: unknown, context: ExecutionContext) => options.authorize?.(tenantOf(context)),
          subscribe: (_: unknown, __: unknown, context: ExecutionContext) => openTicks(tenantOf(context)),
        },
      },
    },
    ...options,
  });
  function openTicks(tenant: string): AsyncIterable<unknown> {
    let waiting: ((result: IteratorResult<unknown>) => void) | undefined;
    let pulled = 0;
    const source = {
      tenant,
      isReturned: false,
      pulled: () => pulled,
      push: () => waiting?.({ done: false, value: { ticks: { of: tenant } } }),
    };
    sources.push(source);
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          pulled++;
          return new Promise((resolve) => (waiting = resolve));
        },
        return: () => {
          source.isReturned = true;
          const end = { done: true as const, value: undefined };
          waiting?.(end);
          return Promise.resolve(end);
        },
      }),
    };
  }
  const messages: ProtocolMessage[] = [];
  const counts = { refusals: 0, over: 0 };
  const failures: unknown[] = [];
  const take = (text: string) => messages.push(JSON.parse(text) as ProtocolMessage) > 0;
  const owner = {
    outbox: {
      format: TRANSPORT_WS,
      isBackpressured: false,
      send: take,
      sendParts: (prefix: Buffer, { pieces }: ResultBytes) => take(Buffer.concat([prefix, ...pieces]).toString()),
      refuse: () => void counts.refusals++,
    },
    isReadOnly: false,
    hasWaitingDocuments: false,
    documentLane: new DocumentLane(),
    isRouter: options.isRouter ?? false,
    limits: {
      maxPendingEvents: options.maxPendingEvents ?? 100,
      maxHeldBytes: 100_000,
      executionTimeoutMs: options.executionTimeoutMs ?? 10_000,
    },
    count: () => undefined,
    isWithinHeldBytes: () => true,
    onOver: () => void counts.over++,
  };
  const { runtime } = stage;
  const hub = stage.hub();
  const subscribe = async (...asked: Parameters<GraphRuntime['subscribe']>): ReturnType<GraphRuntime['subscribe']> => {
    const source = await runtime.subscribe(...asked);
    if (!options.hasTenantChannels || !('channels' in source)) return source;
    return { ...source, channels: [channelOf(tenantOf({ connection: asked[2] }))] } satisfies EventSource;
  };
  const services = {
    runtime: {
      schema: runtime.schema,
      findPrepared: runtime.prepare.bind(runtime),
      execute: runtime.execute.bind(runtime),
      startEvent: runtime.startEvent.bind(runtime),
      masked: runtime.masked.bind(runtime),
      subscribe,
    },
    hub: {
      has: hub.has.bind(hub),
      notifyGap: hub.notifyGap.bind(hub),
      notifyResume: hub.notifyResume.bind(hub),
      join: async (...asked: Parameters<typeof hub.join>) => {
        const leave = hub.join(...asked);
        await options.onJoin?.();
        return leave;
      },
    },
    subscriptions: new SubscriptionTally(['item', 'ticks']),
    onFailure: (_: string, error: unknown) => void failures.push(error),
    onRefusedOperation: () => undefined,
  } as unknown as LiveOperationServices;
  const operation = new LiveOperation(
    '1',
    owner as unknown as ConstructorParameters<typeof LiveOperation>[1],
    services,
  );
  t.after(() => operation.end());
  let next = 0;
  const publish = async (channel = CHANNEL) => {
    const payload = JSON.stringify({ item: { n: next++ } });
    await publisherOf(stage.bus, 't', 1).publish([{ channel, payload }]);
  };
  /** Publishes an event, and resolves once it was executed for this number of operations. */
  const execute = async (executions: number, channel = CHANNEL) => {
    const before = stage.executions;
    await publish(channel);
    await waitFor('the execution', () => stage.executions === before + executions);
    await nextTurn();
  };
  const start = (facts: ConnectionFacts, query = QUERY) => operation.start({ query }, facts);
  const received = (count: number) => waitFor(`${count} messages`, () => messages.length === count);
  return { stage, operation, messages, counts, failures, sources, services, start, publish, execute, received };
}

/** As a connection whose claims have changed. */
async function renew(operation: LiveOperation, facts: ConnectionFacts): Promise<void> {
  if (operation.hold(facts)) await operation.authoriseAgain();
}

const channelOf = (tenant: string) => `t{tenant="${tenant}"}`;

interface Shown {
  readonly data?: { readonly item?: { readonly n: number; readonly tenant: string }; readonly ticks?: object };
  readonly extensions?: { readonly gap?: true };
}

/** Events as `number tenant`, with a `!` after a gap; other messages as their types. */
function shown(messages: readonly ProtocolMessage[]): string[] {
  return messages.map(({ type, payload }) => {
    if (type !== 'next') return type;
    const { data, extensions } = payload as Shown;
    const values = Object.values(data?.item ?? data?.ticks ?? {}).join(' ');
    return extensions?.gap ? `${values} !` : values;
  });
}

const codeOf = (message: ProtocolMessage | undefined) =>
  (message?.payload as { extensions: { code: string } }[] | undefined)?.[0]?.extensions.code;

describe('an operation whose connection gets new claims', () => {
  it('stays in its channel and misses nothing: later events are executed with the new claims', async (t) => {
    const { operation, messages, start, publish, received } = await createOperation(t);
    await start(ofTenant('a'));
    await publish();
    await received(1);
    await renew(operation, ofTenant('b'));
    await publish();
    await received(2);
    assert.deepEqual(shown(messages), ['0 a', '1 b']);
  });

  it('ends with an error when authorize refuses them, and leaves its channel', async (t) => {
    const { stage, operation, messages, counts, services, start } = await createOperation(t, {
      authorize: (tenant) => tenant === 'a',
    });
    await start(ofTenant('a'));
    await renew(operation, ofTenant('b'));
    assert.deepEqual([shown(messages), codeOf(messages[0])], [['error'], 'FORBIDDEN']);
    assert.deepEqual((messages[0]!.payload as { path: unknown }[])[0]!.path, ['item']);
    assert.deepEqual([stage.channelCount(), counts.over, services.subscriptions.counts.get('item')], [0, 1, 0]);
  });

  for (const isAllowed of [true, false]) {
    it(`receives no event before a slow authorize has answered; then ${isAllowed ? 'all of them' : 'none'}`, async (t) => {
      const answer = gate();
      const { operation, messages, start, publish, execute, received } = await createOperation(t, {
        authorize: (tenant) => tenant === 'a' || answer.pass().then(() => isAllowed),
      });
      await start(ofTenant('a'));
      await publish();
      await received(1);
      const renewal = renew(operation, ofTenant('b'));
      await execute(1);
      await execute(1);
      assert.deepEqual(shown(messages), ['0 a']);
      answer.open();
      await renewal;
      assert.deepEqual(shown(messages), isAllowed ? ['0 a', '1 b', '2 b'] : ['0 a', 'error']);
    });
  }

  it('would receive events before that answer if its subscription were confirmed at once', async (t) => {
    const { stage } = await createOperation(t);
    const listener = await stage.join(QUERY, ofTenant('a'));
    listener.renew(ofTenant('b'));
    await stage.publish(CHANNEL, { item: { n: 0 } });
    assert.equal(listener.received.length, 1);
  });

  it('is authorised by one call at a time, and the answer for the latest claims counts', async (t) => {
    const answers = { b: gate(), c: gate(), d: gate() };
    const asked: string[] = [];
    const { operation, messages, start, execute } = await createOperation(t, {
      authorize: async (tenant) => {
        asked.push(tenant);
        await answers[tenant as 'b']?.pass();
        return tenant !== 'b' && tenant !== 'c';
      },
    });
    await start(ofTenant('a'));
    const renewals = ['b', 'c', 'd'].map((tenant) => renew(operation, ofTenant(tenant)));
    assert.deepEqual(asked, ['a', 'b']);
    answers.b.open();
    await waitFor('the next call', () => asked.length === 3);
    await execute(1);
    assert.deepEqual(shown(messages), []);
    answers.d.open();
    await Promise.all(renewals);
    assert.deepEqual([asked, shown(messages)], [['a', 'b', 'd'], ['0 d']]);
  });

  it('is authorised with them if they come while its first authorize runs', async (t) => {
    const answer = gate();
    const { operation, messages, start, publish, received } = await createOperation(t, {
      authorize: async (tenant) => {
        if (tenant === 'a') await answer.pass();
        return tenant === 'b';
      },
    });
    const started = start(ofTenant('a'));
    await renew(operation, ofTenant('b'));
    answer.open();
    await started;
    await publish();
    await received(1);
    assert.deepEqual(shown(messages), ['0 b']);
  });

  it('is authorised again if they come while it joins its channel', async (t) => {
    const joined = gate();
    const { stage, operation, messages, start } = await createOperation(t, {
      authorize: (tenant) => tenant === 'a',
      onJoin: joined.pass,
    });
    const started = start(ofTenant('a'));
    await waitFor('the join', () => stage.channelCount() === 1);
    await renew(operation, ofTenant('b'));
    joined.open();
    await started;
    assert.deepEqual([shown(messages), stage.channelCount()], [['error'], 0]);
  });

  it('ends with EXECUTION_TIMEOUT if authorize does not answer, and sends nothing after that', async (t) => {
    const answer = gate();
    const { stage, operation, messages, failures, start } = await createOperation(t, {
      authorize: (tenant) => tenant === 'a' || answer.pass(),
      executionTimeoutMs: 20,
    });
    await start(ofTenant('a'));
    const renewal = renew(operation, ofTenant('b'));
    await waitFor('the end', () => messages.length === 1);
    assert.deepEqual([codeOf(messages[0]), stage.channelCount()], ['EXECUTION_TIMEOUT', 0]);
    assert.match(String(failures[0]), /authorising a live subscription again has not settled in EXECUTION_TIMEOUT_MS/);
    answer.open();
    await renewal;
    assert.equal(messages.length, 1);
  });

  it('makes a slow consumer if more events wait for authorize than MAX_PENDING_EVENTS', async (t) => {
    const answer = gate();
    const { operation, counts, start, execute } = await createOperation(t, {
      authorize: (tenant) => tenant === 'a' || answer.pass(),
      maxPendingEvents: 2,
    });
    await start(ofTenant('a'));
    const renewal = renew(operation, ofTenant('b'));
    await execute(1);
    await execute(1);
    assert.equal(counts.refusals, 0);
    await execute(1);
    assert.equal(counts.refusals, 1);
    answer.open();
    await renewal;
  });

  it("ends with OVERLOADED instead, alone, on a router's connection", async (t) => {
    const answer = gate();
    const { stage, operation, messages, counts, start, execute } = await createOperation(t, {
      authorize: (tenant) => tenant === 'a' || answer.pass(),
      maxPendingEvents: 2,
      isRouter: true,
    });
    await start(ofTenant('a'));
    const renewal = renew(operation, ofTenant('b'));
    for (let event = 0; event < 3; event++) await execute(1);
    assert.deepEqual([codeOf(messages[0]), messages.length, counts.over], ['OVERLOADED', 1, 1]);
    assert.deepEqual([counts.refusals, stage.channelCount()], [0, 0]);
    answer.open();
    await renewal;
  });

  it('answers a query with the claims that its execution began with', async (t) => {
    const value = gate();
    let isExecuting = false;
    const { operation, messages, start } = await createOperation(t, {
      delay: () => ((isExecuting = true), value.pass()),
    });
    const started = start(ofTenant('a'), '{ tenant }');
    await waitFor('the execution', () => isExecuting);
    await renew(operation, ofTenant('b'));
    value.open();
    await started;
    assert.deepEqual(messages[0]!.payload, { data: { tenant: 'a' } });
    assert.deepEqual(shown(messages).slice(1), ['complete']);
  });

  it('has nothing to do once it has ended', async (t) => {
    const asked: string[] = [];
    const { operation, start } = await createOperation(t, { authorize: (tenant) => void asked.push(tenant) });
    await start(ofTenant('a'));
    operation.end();
    await renew(operation, ofTenant('b'));
    assert.deepEqual(asked, ['a']);
  });
});

describe('an operation whose channel depends on the claims', () => {
  it('moves at once: no event of the old channel, a gap, then the events of the new one', async (t) => {
    const { stage, operation, messages, services, start, publish, received } = await createOperation(t, {
      hasTenantChannels: true,
    });
    await start(ofTenant('a'));
    await publish(channelOf('a'));
    await received(1);
    const { heldBytes } = operation;
    await renew(operation, ofTenant('longer'));
    assert.deepEqual([stage.channelCount(), services.subscriptions.counts.get('item')], [1, 1]);
    assert.ok(operation.heldBytes > heldBytes && operation.heldBytes < heldBytes + 100);
    await publish(channelOf('a'));
    await publish(channelOf('longer'));
    await publish(channelOf('longer'));
    await received(3);
    assert.deepEqual(shown(messages), ['0 a', '2 longer !', '3 longer']);
    assert.equal(stage.gapOperations, 1);
  });

  it('receives no event of the old channel that came while authorize was slow', async (t) => {
    const answer = gate();
    const { operation, messages, start, execute, publish, received } = await createOperation(t, {
      hasTenantChannels: true,
      authorize: (tenant) => tenant === 'a' || answer.pass(),
    });
    await start(ofTenant('a'));
    const renewal = renew(operation, ofTenant('b'));
    await execute(1, channelOf('a'));
    answer.open();
    await renewal;
    await publish(channelOf('b'));
    await received(1);
    assert.deepEqual(shown(messages), ['1 b !']);
  });

  it('drops the result of an execution for the old channel that has not settled', async (t) => {
    const value = gate();
    const { stage, operation, messages, start, publish, received } = await createOperation(t, {
      hasTenantChannels: true,
      delay: (n) => (n === 0 ? value.pass() : undefined),
    });
    await start(ofTenant('a'));
    await publish(channelOf('a'));
    await waitFor('the execution', () => stage.executions === 1);
    await renew(operation, ofTenant('b'));
    value.open();
    await publish(channelOf('b'));
    await received(1);
    assert.deepEqual(shown(messages), ['1 b !']);
  });

  it('leaves the channel that it was still joining', async (t) => {
    const joined = gate();
    const { stage, operation, messages, start, publish, received } = await createOperation(t, {
      hasTenantChannels: true,
      onJoin: joined.pass,
    });
    const started = start(ofTenant('a'));
    await waitFor('the join', () => stage.channelCount() === 1);
    const renewal = renew(operation, ofTenant('b'));
    await waitFor('the second join', () => stage.channelCount() === 2);
    joined.open();
    await Promise.all([started, renewal]);
    assert.equal(stage.channelCount(), 1);
    await publish(channelOf('a'));
    await publish(channelOf('b'));
    await received(1);
    assert.deepEqual(shown(messages), ['1 b !']);
    operation.end();
    assert.equal(stage.channelCount(), 0);
  });
});

describe("an operation of the graph's own source", () => {
  const TICKS = 'subscription { ticks { of tenant } }';

  it('subscribes again with the new claims and returns the old source, of which no event follows', async (t) => {
    const { operation, messages, sources, services, start, received } = await createOperation(t);
    await start(ofTenant('a'), TICKS);
    sources[0]!.push();
    await received(1);
    await renew(operation, ofTenant('b'));
    assert.deepEqual(
      sources.map(({ tenant, isReturned }) => [tenant, isReturned]),
      [
        ['a', true],
        ['b', false],
      ],
    );
    sources[0]!.push();
    sources[1]!.push();
    await received(2);
    assert.deepEqual([shown(messages), services.subscriptions.counts.get('ticks')], [['a a', 'b b !'], 1]);
  });

  it('requests no more events, and sends none, while authorize is slow', async (t) => {
    const answer = gate();
    const { operation, messages, sources, start, received } = await createOperation(t, {
      authorize: (tenant) => tenant === 'a' || answer.pass(),
    });
    await start(ofTenant('a'), TICKS);
    const renewal = renew(operation, ofTenant('b'));
    sources[0]!.push();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    assert.deepEqual([sources[0]!.pulled(), messages.length], [1, 0]);
    answer.open();
    await renewal;
    sources[1]!.push();
    await received(1);
    assert.deepEqual(shown(messages), ['b b !']);
  });

  it('moves to the trigger of context.pubsub that its new claims name: no later event of the old one, then a gap', async (t) => {
    const answer = gate();
    const { stage, operation, messages, start, received } = await createOperation(t, {
      resolvers: {
        Tick: { tenant: (_: unknown, __: unknown, context: ExecutionContext) => tenantOf(context) },
        Subscription: {
          ticks: {
            authorize: (_: unknown, context: ExecutionContext) => (tenantOf(context) === 'b' ? answer.pass() : true),
            subscribe: (_: unknown, __: unknown, context: ExecutionContext) =>
              context.pubsub.asyncIterableIterator(`of.${tenantOf(context)}`),
          },
        },
      },
    });
    const send = (tenant: string, of: string) => stage.bus.send(`of.${tenant}`, JSON.stringify({ ticks: { of } }));
    await start(ofTenant('a'), TICKS);
    await send('a', 'a1');
    await received(1);
    const renewal = renew(operation, ofTenant('b'));
    await send('a', 'a2');
    await send('b', 'b1');
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    assert.equal(messages.length, 1);
    answer.open();
    await renewal;
    assert.equal(stage.triggers.size, 1);
    await send('a', 'a3');
    await send('b', 'b2');
    await received(2);
    assert.deepEqual(shown(messages), ['a1 a', 'b2 b !']);
    operation.end();
    assert.equal(stage.triggers.size, 0);
  });

  it('returns the source of claims that were replaced before it was opened', async (t) => {
    const answer = gate();
    const { operation, sources, start } = await createOperation(t, {
      authorize: (tenant) => (tenant === 'b' ? answer.pass() : undefined),
    });
    await start(ofTenant('a'), TICKS);
    const renewals = [renew(operation, ofTenant('b')), renew(operation, ofTenant('c'))];
    answer.open();
    await Promise.all(renewals);
    const open = sources.filter(({ isReturned }) => !isReturned);
    assert.deepEqual([sources.length, open.map(({ tenant }) => tenant)], [3, ['c']]);
  });
});
