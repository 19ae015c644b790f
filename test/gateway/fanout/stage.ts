import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../../src/bus/bus.ts';
import { topicOf } from '../../../src/bus/channel.ts';
import { MemoryBus } from '../../../src/bus/memory/memory-bus.ts';
import type { ConnectionFacts } from '../../../src/graph/context/connection-facts.ts';
import { createFacts, createRequest } from '../../../src/graph/context/connection-facts.ts';
import type { ContextDefinition } from '../../../src/graph/context/context.ts';
import type { BackendPort } from '../../../src/graph/context/execution-backends.ts';
import type { Publish } from '../../../src/graph/context/publishing.ts';
import { TriggerChannels } from '../../../src/graph/context/pubsub/trigger-channels.ts';
import type { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import type { Deflater } from '../../../src/gateway/fanout/outbox/deflater.ts';
import type { ResultBytes } from '../../../src/gateway/fanout/outbox/frame.ts';
import { WaitLists } from '../../../src/gateway/fanout/outbox/wait-list.ts';
import type { Wait } from '../../../src/gateway/fanout/outbox/wait-list.ts';
import { TRANSPORT_WS } from '../../../src/gateway/websocket/transport-ws.ts';
import { errorOf } from '../../../src/base/errors.ts';
import type { ResumeOutcome } from '../../../src/gateway/fanout/channel-services.ts';
import { Hub } from '../../../src/gateway/fanout/hub.ts';
import { joinChannels } from '../../../src/gateway/fanout/join-channels.ts';
import type { Leave, Start } from '../../../src/gateway/fanout/hub.ts';
import { SharingAudit } from '../../../src/gateway/fanout/sharing/sharing-audit.ts';
import type { AuditOutcome } from '../../../src/gateway/fanout/sharing/sharing-audit.ts';
import { Subscription } from '../../../src/gateway/fanout/subscription.ts';
import type { SubscriptionOptions } from '../../../src/gateway/fanout/subscription.ts';
import type { Intake } from '../../../src/bus/flow/intake.ts';
import { Receiver } from '../../../src/bus/flow/receiver.ts';
import { attachEntities } from '../../../src/graph/federation/entities.ts';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { parseRedisBindings } from '../../../src/graph/schema/redis-binding.ts';
import { DocumentCache } from '../../../src/graph/documents/document-cache.ts';
import type { EventSource } from '../../../src/graph/event-source.ts';
import { RequestedDocuments } from '../../../src/graph/documents/requested-documents.ts';
import { makeExecutable } from '../../../src/graph/execution/executable.ts';
import type { Source } from '../../../src/graph/execution/executable.ts';
import { Executions } from '../../../src/graph/execution/executions.ts';
import { Executor } from '../../../src/graph/execution/executor.ts';
import { attachChangeFields } from '../../../src/graph/schema/change-fields.ts';
import { attachRecordFields } from '../../../src/graph/schema/record-fields.ts';
import { attachResolvers } from '../../../src/graph/schema/resolvers.ts';
import { TextPayload } from '../../../src/graph/payload.ts';
import type { RecordParts } from '../../../src/graph/record-parts.ts';
import { createRouters } from '../../../src/graph/router.ts';
import type { ChangeRoutes } from '../../../src/graph/row-router.ts';
import type { RequestLimits } from '../../../src/graph/request-limits.ts';
import { GraphRuntime } from '../../../src/graph/runtime.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../../../src/graph/schema/schema.ts';
import { attachStateFields } from '../../../src/graph/state/state-fields.ts';
import { createLog } from '../../../src/base/log.ts';
import type { Logger } from '../../../src/base/log.ts';
import { followSource } from '../../../src/gateway/operations/own-source.ts';
import { replyOf } from '../../graph/context/reply-of.ts';
import { switches } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { framesOf, readFrames } from './outbox/inflated-frames.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';

export interface StageOptions {
  readonly sdl: string;
  readonly resolvers?: Record<string, unknown>;
  readonly context?: ContextDefinition;
  /** Default: each request is echoed. */
  readonly backends?: BackendPort;
  /** 0: no execution is compiled. */
  readonly jitAfterUses?: number;
  /** Default of both: that of the run. */
  readonly hasProjection?: boolean;
  readonly hasSharing?: boolean;
  readonly cursors?: Cursors;
  /** Part of the shared deliveries that are audited. */
  readonly audit?: number;
  readonly log?: Logger;
  /** Publishes the records of mutations. */
  readonly publishRecord?: Publish;
  /** Drops the recorded reads, for negative twins. */
  readonly forgetsReads?: boolean;
  /** Gives all subscriptions of a channel one sharing key, whatever their documents and variables are, for negative twins. */
  readonly hasOneSharingKey?: boolean;
  readonly maxHeldBytes?: number;
  /** Started, with a prefix of its channels. Default: one in memory, without. */
  readonly bus?: { readonly of: Bus; readonly prefix: string };
  /** Default: as in a pod. */
  readonly untilAttempt?: () => Promise<unknown>;
  readonly isStateComplete?: (channel: string, epoch: number) => boolean;
  readonly limits?: RequestLimits;
  readonly executionTimeoutMs?: number;
  readonly executions?: Executions;
  /** Events of a channel that are executed at a time. */
  readonly maxExecuting?: number;
  /** Executions of all channels that are in flight at a time. */
  readonly maxExecutions?: () => number;
  /** An event could not be served to a listener, whose subscription has ended. */
  readonly onFailure?: (error: unknown) => void;
  /** Compresses the results of all listeners. */
  readonly deflater?: Deflater;
  /** Default: a socket that reads whatever it gets. */
  readonly openOutbox?: (id: string, onMessage: (text: string) => void) => SubscriptionOptions['outbox'];
  /** Results are written. */
  readonly onFlush?: () => void;
  /** A listener has received one more result. */
  readonly onReceive?: (received: readonly string[]) => void;
}

export interface Listener {
  readonly facts: ConnectionFacts;
  /** Received results; `alone`: the results of unshared executions for the same events. */
  readonly received: string[];
  readonly alone: string[];
  /** State of its socket, set and read by tests. */
  readonly socket: { isBackpressured: boolean; isRefused: boolean };
  /** The result of an unshared execution for a payload. */
  readonly execute: (payload: unknown) => Promise<string>;
  readonly subscription: Subscription;
  /** Replaces its facts, and confirms it with them. */
  readonly renew: (facts: ConnectionFacts) => void;
  readonly leave: () => void;
  /** As before its connection is closed. */
  readonly sendWaiting: () => void;
}

const LIMITS = {
  maxLength: 15_000,
  maxTokens: 1000,
  maxDepth: 8,
  maxAliases: 15,
  maxDirectives: 50,
  hasIntrospection: true,
  hasLocations: switches.AST_LOCATIONS,
  maxEntries: 100,
  maxBytes: 1_000_000,
  maxInvalidEntries: 10,
};

/** One for all stages: a log takes as long to create as a small schema. */
const SILENT = createLog('silent');

/** What a listener has received when its subscription has completed. */
export const COMPLETE = 'complete';

/** Partition of `publish`. Tests that choose offsets publish for another one. */
const PARTITION = 1;

/** Echoes each request, with the caller's credentials; `/region` with another header of it. */
const echo: BackendPort = {
  send: async (name, { path, callerHeader }) => {
    await new Promise((resolve) => setImmediate(resolve));
    const header = path === '/region' ? 'x-region' : 'authorization';
    return replyOf({ name, path, [header]: callerHeader(header) });
  },
};

export function factsOf(id: string, claims: object, headers: readonly string[] = [], params: object = {}) {
  return createFacts(createRequest({ id, rawHeaders: headers, params, address: `10.0.0.${id.length}` }), claims);
}

/** A graph, a bus and a hub, with listeners instead of sockets. */
export async function createStage(t: Pick<TestContext, 'after'>, options: StageOptions) {
  const log = options.log ?? SILENT;
  const { schema, problems, subgraph } = buildGraphSchema(options.sdl, 'schema.graphql');
  const attached = attachResolvers(schema, options.resolvers ?? {}, 'resolvers.ts');
  problems.push(...attachRecordFields(schema), ...attachChangeFields(schema), ...attachEntities(schema, subgraph));
  const { bindings, shapes, problems: mistakes } = parseBindings(schema, attached.customSources);
  const redis = parseRedisBindings(schema, attached.customSources);
  const states = attachStateFields(schema, bindings);
  const all = [...problems, ...attached.problems, ...mistakes, ...redis.problems, ...states.problems];
  if (all.length > 0) throw new Error(all.join('\n'));
  const clientSchema = withoutOwnDefinitions(schema, subgraph);
  makeExecutable(clientSchema, new Map<string, Source>([...bindings, ...redis.bindings]));
  const counted = options.executions ?? new Executions();
  const { of: bus, prefix: channelPrefix } = options.bus ?? { of: await memoryBus(t, log), prefix: '' };
  const triggers = new TriggerChannels({
    bus,
    // Without one, every channel could be one of crier's own.
    prefix: 'crier:',
    maxChannelBytes: 256,
    maxMessageBytes: 10_000,
    log,
    names: ENVIRONMENT_NAMES,
    onUnrecognisedMessage: () => void stage.unrecognised++,
  });
  const runtime = new GraphRuntime({
    graph: {
      name: 'stage',
      revision: '',
      schema: clientSchema,
      bindings,
      redisBindings: redis.bindings,
      shapes,
      publications: [],
      stateFields: states.stateFields,
      authorizers: attached.authorizers,
      context: options.context ?? {},
      samples: undefined,
      formats: {},
      envelopes: {},
      warnings: [],
    },
    documents: new RequestedDocuments({ cache: new DocumentCache(clientSchema, LIMITS) }),
    executor: new Executor(clientSchema, {
      jitAfterUses: options.jitAfterUses ?? 0,
      hasProjection: options.hasProjection ?? switches.PROJECTION,
    }),
    backends: options.backends ?? echo,
    triggers,
    publish: options.publishRecord,
    ...(options.limits && { limits: options.limits }),
    states: {
      history: (channel, query) => bus.history(channel, query),
      isComplete: options.isStateComplete,
    },
    hasSharing: options.hasSharing ?? switches.SHARING,
    channelPrefix,
    executions: counted,
    log,
    onInternalError: () => undefined,
  });
  const stage = {
    get executions() {
      return counted.ofEvents;
    },
    set executions(executions: number) {
      counted.ofEvents = executions;
    },
    counted,
    outcomes: [] as AuditOutcome[],
    events: 0,
    workerEvents: 0,
    stale: 0,
    unrecognised: 0,
    resumes: [] as ResumeOutcome[],
    gapOperations: 0,
    skipped: { pace: 0, slow: 0 },
    channelCount: () => hub.channelCount,
    heldBytes: () => hub.heldBytes,
    /** Bytes that flow control counts as not served. */
    waitingBytes: () => receiver.waiting,
    inFlight: () => hub.executions,
    bus,
    triggers,
    runtime,
    hub: () => hub,
    join,
    publish,
    /** The channels that a worker publishes a tombstone of topic `t` to. */
    tombstoneRoutes(key: string): string[] {
      const router = createRouters(bindings.values(), '').get('t')!;
      return router.tombstoneChannels({ key: Buffer.from(key) }).map(({ channel }) => channel);
    },
    /** Where a worker publishes the change of a row of topic `t`. @param row null: deleted @param before undefined: not known */
    changeRoutes(row: object | null, before: object | null | undefined, record: RecordParts): ChangeRoutes {
      const router = createRouters(bindings.values(), channelPrefix).get('t')!;
      const valuesIn = (one: object) => router.valuesIn(one);
      return router.rows!.changeRoutes(row && valuesIn(row), before ? valuesIn(before) : undefined, record);
    },
    /** The channels that a worker publishes a record of topic `t` to. */
    routes(payload: unknown): string[] {
      const router = createRouters(bindings.values(), '').get('t')!;
      return router.channels(router.valuesIn(payload), { key: null }).map(({ channel }) => channel);
    },
  };
  const audit =
    options.audit === undefined
      ? undefined
      : new SharingAudit({
          share: options.audit,
          resolverPaths: (operation) => runtime.resolverPaths(operation),
          log,
          onOutcome: (outcome) => void stage.outcomes.push(outcome),
        });
  const receiver = new Receiver({
    gateway: 'stage',
    targetMs: 500,
    maxBytes: 8_388_608,
    maxExecuting: options.maxExecuting ?? 500,
    sockets: () => 1,
    fill: () => 0,
  });
  const intakes = new Set<Intake>();
  const intake = (channel: string, partition: number) => {
    const of = receiver.intake(topicOf(channel, ''), partition);
    intakes.add(of);
    return of;
  };
  // Flow control must stop counting every event in the end. The shares of groups leave a rounding error.
  t.after(() =>
    waitFor('the end of all executions', () =>
      [...intakes].every(({ waiting, executingBytes }) => waiting < 1e-3 && Math.abs(executingBytes) < 1e-3),
    ),
  );
  const hub = new Hub({
    bus,
    executions: counted,
    log,
    names: ENVIRONMENT_NAMES,
    flow: { intake, load: () => receiver.load() },
    secret: { cursors: options.cursors },
    observer: {
      onEvent: (isOfWorker) => {
        stage.events++;
        if (isOfWorker) stage.workerEvents++;
      },
      onUnrecognisedMessage: () => void stage.unrecognised++,
      onStale: () => void stage.stale++,
      onGap: (operations) => void (stage.gapOperations += operations),
      onSkipped: (events, reason) => void (stage.skipped[reason] += events),
      onResume: (outcome) => void stage.resumes.push(outcome),
    },
    writer: { flush: options.onFlush ?? (() => undefined), isFull: false },
    maxHeldBytes: options.maxHeldBytes,
    untilAttempt: options.untilAttempt,
    executionTimeoutMs: options.executionTimeoutMs ?? 10_000,
    isStateComplete: options.isStateComplete,
    maxExecutions: options.maxExecutions,
    audit,
    executor: {
      rulesOf: (operation) => runtime.rulesOf(operation),
      startEvent: (payload, operation) => {
        const event = runtime.startEvent(payload, operation);
        if (!options.forgetsReads) return event;
        const execute = (subscription: Subscription) => {
          const result = event.execute(subscription);
          return result instanceof Promise
            ? result.then(({ json }) => ({ json, reads: undefined }))
            : { json: result.json, reads: undefined };
        };
        return { execute, repeat: (subscription) => event.repeat(subscription) };
      },
    },
  });
  const everyone = new Map<string, Set<Listener>>();

  /** @throws Error with the messages of a refusal */
  async function join(
    query: string,
    facts: ConnectionFacts,
    variables?: Record<string, unknown>,
    start?: Start,
  ): Promise<Listener> {
    const operation = runtime.prepare({ query }, undefined);
    if ('errors' in operation) throw new Error(operation.errors.map(({ message }) => message).join());
    const source = await runtime.subscribe(operation, variables, facts);
    if ('errors' in source) throw new Error(source.errors.map(({ message }) => message).join());
    const received: string[] = [];
    const waits = new WaitLists();
    let isBackpressured = false;
    const socket = {
      format: TRANSPORT_WS,
      isRefused: false,
      get isBackpressured() {
        return isBackpressured;
      },
      set isBackpressured(value: boolean) {
        isBackpressured = value;
        if (!value) waits.wakeNext();
      },
      get isBehind() {
        return isBackpressured;
      },
      waitList: (wait: Wait) => waits[wait],
      passRoom: () => waits.wakeNext(),
      sendParts: (prefix: Buffer, result: ResultBytes) => {
        const sent = options.deflater?.deflated(result, prefix.length) ?? result;
        for (const { text } of readFrames(framesOf([{ prefix, result: sent }]))) received.push(resultOf(text));
        options.onReceive?.(received);
        return true;
      },
    };
    const owner = {
      onFailure: options.onFailure ?? ((error: unknown) => assert.fail(errorOf(error))),
      onComplete: () => void received.push(COMPLETE),
      onBehind: () => void (socket.isRefused = true),
    };
    const subscription = new Subscription({
      id: '1',
      operation,
      variables,
      facts,
      outbox: options.openOutbox?.(facts.id, (text) => received.push(resultOf(text))) ?? socket,
      owner,
      maxPendingEvents: 100,
      pace: 'channels' in source ? source.pace : undefined,
    });
    const leave = await follow(source, subscription, start);
    const channels = 'channels' in source ? source.channels : [];
    const audiences = channels.map((channel) => everyone.get(channel) ?? new Set<Listener>());
    audiences.forEach((listeners, index) => everyone.set(channels[index]!, listeners));
    const listener: Listener = {
      get facts() {
        return subscription.facts;
      },
      received,
      alone: [],
      socket,
      subscription,
      execute: async (payload: unknown) => {
        const { json } = await runtime.startEvent(payloadOf(payload)).execute(subscription);
        return withoutErrorIds(textOf(json));
      },
      renew: (renewed: ConnectionFacts) => {
        subscription.hold(renewed);
        subscription.confirm();
      },
      sendWaiting: () => leave(true),
      leave: () => {
        leave();
        for (const listeners of audiences) listeners.delete(listener);
      },
    };
    for (const listeners of audiences) listeners.add(listener);
    return listener;
  }

  /** Resolves when the subscription receives the later events of its source. */
  async function follow(source: EventSource, subscription: Subscription, start?: Start): Promise<Leave> {
    if ('events' in source) {
      const owner = { onSourceEnd: () => undefined, onSourceFailure: (error: unknown) => assert.fail(errorOf(error)) };
      return followSource(source, subscription, runtime, owner);
    }
    return joinChannels(hub, options.hasOneSharingKey ? { ...source, sharingKey: '' } : source, subscription, start);
  }

  /** Publishes all payloads at once. Resolves when every listener of the channel has received and computed its results. */
  async function publish(channel: string, ...payloads: unknown[]): Promise<void> {
    const listeners = [...(everyone.get(channel) ?? [])];
    const goals = listeners.map(({ received }) => received.length + payloads.length);
    const messages = payloads.map((payload) => ({ channel, payload: JSON.stringify(payload) }));
    await publisherOf(bus, topicOf(channel, ''), PARTITION).publish(messages);
    await waitFor('all results', () => listeners.every(({ received }, index) => received.length >= goals[index]!));
    for (const { execute, alone } of listeners) for (const payload of payloads) alone.push(await execute(payload));
  }

  return stage;
}

async function memoryBus(t: Pick<TestContext, 'after'>, log: Logger): Promise<Bus> {
  const bus = new MemoryBus({ log });
  t.after(() => bus.close());
  await bus.start();
  return bus;
}

export function payloadOf(value: unknown): TextPayload {
  return new TextPayload(Buffer.from(JSON.stringify(value)));
}

/** @param json of an `EventResult` */
export function textOf(json: readonly Buffer[]): string {
  return `${Buffer.concat(json).toString()}}`;
}

function resultOf(message: string): string {
  return withoutErrorIds(JSON.stringify((JSON.parse(message) as { payload: unknown }).payload));
}

/** A masked error has a random id. */
function withoutErrorIds(json: string): string {
  return json.replaceAll(/"(errorId|error_id|id)":"[0-9a-f-]{36}"/g, '"$1":""');
}
