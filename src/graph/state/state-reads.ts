import type { Coordinates } from '../../bus/coordinates.ts';
import { LAST_MESSAGE } from '../../bus/history.ts';
import type { History, HistoryQuery } from '../../bus/history.ts';
import type { ExecutionContext } from '../context/context.ts';
import type { EventRecord } from '../context/event-record.ts';
import { SourceEvents } from '../context/source-events.ts';
import { BusUnavailableError, clientError } from '../../base/errors.ts';
import { valueAt } from '../../base/json/value-at.ts';
import { missingClaim, refusalOf } from '../authorize.ts';
import { channelsFor } from '../channels.ts';
import type { Graph } from '../graph-parts.ts';
import { TextPayload } from '../payload.ts';
import type { Payload } from '../payload.ts';
import { refuseChannels } from '../request-limits.ts';
import type { RequestLimits } from '../request-limits.ts';
import { RowReader } from '../row-payload.ts';
import type { Binding } from '../schema/binding.ts';

export interface StateReadsOptions {
  readonly graph: Pick<Graph, 'schema' | 'authorizers'>;
  readonly channelPrefix: string;
  /** Default: none. */
  readonly limits?: Pick<RequestLimits, 'maxChannelBytes'> | undefined;
  /** @throws BusUnavailableError */
  readonly history: (channel: string, query: HistoryQuery) => Promise<History>;
  /** The record of a message. */
  readonly recordOf: (channel: string, coordinates: Coordinates) => EventRecord;
  /** False while the state of a channel, read in an epoch, may be older than the topic, or absent. Default: true. */
  readonly isComplete?: ((channel: string, epoch: number) => boolean) | undefined;
}

/** A Query field with @state. */
export interface StateField {
  /** Of the Subscription field whose state it is. */
  readonly binding: Binding;
  /** True if fields of the value may have a @record or a @change. */
  readonly readsEvent: boolean;
}

/** Reads states for one query. Whoever may not subscribe to a field may not read its state. */
export class StateReads {
  /** By the context of a query. */
  static readonly #ofQuery = new WeakMap<ExecutionContext, StateReads>();
  readonly #options: StateReadsOptions;
  #isComplete = true;

  /** Of a query that `serve` was called for. */
  static of(context: ExecutionContext): StateReads {
    const reads = StateReads.#ofQuery.get(context);
    if (!reads) throw new TypeError('not the context of a query');
    return reads;
  }

  constructor(options: StateReadsOptions) {
    this.#options = options;
  }

  /** Lets resolvers of the query with this context read states. */
  serve(context: ExecutionContext): void {
    StateReads.#ofQuery.set(context, this);
  }

  /** False if a state that was read may be older than the topic, or absent. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * The value of the binding's field; null if there is no state.
   */
  async read(
    { binding, readsEvent }: StateField,
    args: Readonly<Record<string, unknown>>,
    context: ExecutionContext,
  ): Promise<unknown> {
    const { graph, channelPrefix, limits, isComplete, recordOf } = this.#options;
    // Before the graph's code, which may write to the arguments.
    const channels = channelsFor(binding, channelPrefix, { args, claims: context.connection.claims });
    const field = graph.schema.getSubscriptionType()!.getFields()[binding.field]!;
    const refusal = await refusalOf(graph, field, { ...args }, context);
    if (refusal) throw refusal;
    if (!channels) throw missingClaim(binding);
    if ('errors' in channels) throw clientError('BAD_USER_INPUT', channels.errors[0]!.message);
    const tooLong = limits && refuseChannels(channels, limits);
    if (tooLong) throw clientError('BAD_USER_INPUT', tooLong.errors[0]!.message);
    const [channel] = channels;
    if (channel === undefined) return null;
    const { epoch, entries } = await this.#lastOf(channel);
    if (isComplete?.(channel, epoch) === false) this.#isComplete = false;
    const last = entries.at(-1);
    if (!last) return null;
    const payload: Payload =
      binding.envelope === undefined
        ? new TextPayload(last.payload)
        : new RowReader(channel).read(last.payload, last.coordinates);
    const value = valueAt(payload.value, binding.payload) ?? null;
    if (readsEvent) SourceEvents.set(value, { record: recordOf(channel, last.coordinates), change: payload.change });
    return value;
  }

  async #lastOf(channel: string): Promise<History> {
    try {
      return await this.#options.history(channel, LAST_MESSAGE);
    } catch (error) {
      if (!(error instanceof BusUnavailableError)) throw error;
      throw clientError('BUS_UNAVAILABLE', 'States cannot be read right now; try again');
    }
  }
}
