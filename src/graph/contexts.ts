import { OperationTypeNode } from 'graphql';
import type { PartsDemand } from '../bus/carried-parts.ts';
import type { Coordinates } from '../bus/coordinates.ts';
import type { ConnectionFacts } from './context/connection-facts.ts';
import { createContext, createMutationContext } from './context/context.ts';
import type { ExecutionContext } from './context/context.ts';
import { eventRecord } from './context/event-record.ts';
import type { EventRecord, SourceEvent } from './context/event-record.ts';
import type { BackendPort } from './context/execution-backends.ts';
import { Publishing } from './context/pubsub/pubsub.ts';
import type { PubSub } from './context/pubsub/pubsub.ts';
import type { TriggerChannels } from './context/pubsub/trigger-channels.ts';
import type { Publish } from './context/publishing.ts';
import type { ExecutionTrace } from '../ops/tracing/execution-trace.ts';
import type { Operation } from './documents/operation.ts';
import type { Graph } from './graph-parts.ts';
import { partsDemands } from './parts-demands.ts';
import type { RequestLimits } from './request-limits.ts';
import { StateReads } from './state/state-reads.ts';
import type { StateReadsOptions } from './state/state-reads.ts';

export interface ContextsOptions {
  readonly graph: Graph;
  readonly backends: BackendPort;
  /** undefined: `context.pubsub` throws. */
  readonly triggers?: TriggerChannels | undefined;
  /** For mutations; undefined: nothing can be published. */
  readonly publish?: Publish | undefined;
  /** Reads states for queries; undefined: there is no bus. */
  readonly states?: Pick<StateReadsOptions, 'history' | 'isComplete'> | undefined;
  readonly channelPrefix: string;
  /** Default: none. */
  readonly limits?: RequestLimits;
}

/** The context of a query or mutation. */
export interface RequestContext {
  readonly context: ExecutionContext;
  /** undefined: the operation reads no state. */
  readonly states: StateReads | undefined;
}

/** Makes the contexts that a graph's resolvers have. */
export class Contexts {
  readonly #options: ContextsOptions;
  /** All executions have it. */
  readonly #publishing: PubSub | undefined;
  readonly #demands: ReadonlyMap<string, PartsDemand>;

  constructor(options: ContextsOptions) {
    this.#options = options;
    this.#publishing = options.triggers && Object.freeze(new Publishing(options.triggers));
    this.#demands = partsDemands(options.graph.bindings.values());
  }

  /** The context of an event's execution, or of `authorize` and `subscribe`. */
  of(facts: ConnectionFacts, trace?: ExecutionTrace, event?: SourceEvent, pubsub = this.#publishing): ExecutionContext {
    const { graph, backends } = this.#options;
    return createContext(graph.context, backends, facts, trace, pubsub, event);
  }

  ofRequest({ definition }: Operation, facts: ConnectionFacts): RequestContext {
    const { graph, backends, publish } = this.#options;
    const isMutation = definition.operation === OperationTypeNode.MUTATION;
    const context =
      publish && isMutation
        ? createMutationContext(graph.context, backends, facts, { publish, pubsub: this.#publishing })
        : this.of(facts);
    const states = definition.operation === OperationTypeNode.QUERY ? this.#stateReads() : undefined;
    states?.serve(context);
    return { context, states };
  }

  /** The record of an event, with the parts that the bindings of its topic ask for. */
  recordOf(channel: string, coordinates: Coordinates): EventRecord {
    return eventRecord(channel, this.#options.channelPrefix, coordinates, (topic) => this.#demands.get(topic));
  }

  #stateReads(): StateReads | undefined {
    const { graph, channelPrefix, limits, states } = this.#options;
    if (!states || graph.stateFields.length === 0) return undefined;
    const recordOf = (channel: string, coordinates: Coordinates) => this.recordOf(channel, coordinates);
    return new StateReads({ ...states, graph, channelPrefix, limits, recordOf });
  }
}
