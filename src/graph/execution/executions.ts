import type { GraphQLSchema } from 'graphql';
import type { Observations } from '../../ops/metrics/observations.ts';
import type { Operation } from '../documents/operation.ts';
import { OperationTallies } from '../documents/operation-tallies.ts';
import { Timing } from './timing.ts';
import { rootFieldLabel } from './root-fields.ts';

/** By the label of an operation's root field. */
export interface ExecutionObservations {
  readonly seconds: (field: string) => Observations;
  /** Requests to backends. */
  readonly backendRequests: (field: string) => Observations;
}

/** Executions of one operation. */
interface OperationObservations {
  readonly seconds: Observations;
  readonly backendRequests: Observations;
}

/** The clock is read after each multiple of this number of executions. */
const TIMING_EXECUTIONS = 16;
/** Age in ms at which a timing ends when the clock is read. */
const TIMING_MS = 0.5;

/**
 * Counts executions and observes their time and backend requests. An operation with several root fields has none of their names.
 *
 * Executions of events that follow each other and settle at once are timed together; an execution that waits for a promise is timed by itself.
 */
export class Executions {
  /** Executions of events that have started. */
  ofEvents = 0;
  /** Executions that wait for a promise. */
  inFlight = 0;
  /** Of these, executions of mutations. */
  mutationsInFlight = 0;
  readonly tallies: OperationTallies;
  /** Results that members of a sharing group received from another member's execution. */
  sharedResults = 0;
  readonly #observations: ExecutionObservations | undefined;
  readonly #byOperation = new WeakMap<Operation, OperationObservations>();
  /** The open timing. */
  #timing: Timing | undefined;

  /** @param observations undefined: executions are only counted */
  constructor(observations?: ExecutionObservations, tallies = new OperationTallies()) {
    this.#observations = observations;
    this.tallies = tallies;
  }

  /** An execution of an event begins. Returns its timing. */
  begin(operation: Operation): Timing {
    this.ofEvents++;
    let timing = this.#timing;
    if (timing === undefined || timing.operation !== operation || timing.executions % TIMING_EXECUTIONS === 0) {
      timing = this.#timingFor(operation, performance.now());
    }
    timing.executions++;
    return timing;
  }

  /** A member receives the result of another member's execution. */
  share(): void {
    this.sharedResults++;
    this.endTiming();
  }

  /** The execution that began last has settled, with requests to backends. */
  addRequests(timing: Timing, backendRequests: number): void {
    timing.requesting++;
    timing.operation.tally.backendRequests += backendRequests;
    this.#of(timing.operation)?.backendRequests.observe(backendRequests);
  }

  /** The execution that began last waits for a promise. Returns a timing for it alone, which `settle` must end. */
  suspend(): Timing {
    const timing = this.#timing!;
    this.#timing = undefined;
    if (timing.executions === 1) return timing;
    const now = performance.now();
    const startedAt = now - (now - timing.startedAt) / timing.executions;
    timing.executions--;
    this.#end(timing, startedAt);
    return new Timing(timing.operation, startedAt, 1);
  }

  /** A timing's only execution has settled. */
  settle(timing: Timing, backendRequests = 0): void {
    if (backendRequests > 0) this.addRequests(timing, backendRequests);
    this.#end(timing, performance.now());
  }

  /** No other execution follows at once: ends the open timing. */
  endTiming(): void {
    if (this.#timing === undefined) return;
    this.#end(this.#timing, performance.now());
    this.#timing = undefined;
  }

  /** A client has requested the operation. */
  note(operation: Operation): void {
    this.tallies.note(operation.tally, () => rootFieldLabel(operation));
  }

  /** The open timing, unless it is over, or the next one. */
  #timingFor(operation: Operation, now: number): Timing {
    if (this.#timing) {
      if (this.#timing.operation === operation && now - this.#timing.startedAt < TIMING_MS) return this.#timing;
      this.#end(this.#timing, now);
    }
    return (this.#timing = new Timing(operation, now, 0));
  }

  #end(timing: Timing, now: number): void {
    timing.endedAt = now;
    const { tally } = timing.operation;
    tally.executions += timing.executions;
    tally.executionMs += now - timing.startedAt;
    const observed = this.#of(timing.operation);
    if (!observed) return;
    observed.seconds.observe((now - timing.startedAt) / 1000 / timing.executions, timing.executions, timing.traceId);
    if (timing.executions > timing.requesting)
      observed.backendRequests.observe(0, timing.executions - timing.requesting);
  }

  #of(operation: Operation): OperationObservations | undefined {
    if (!this.#observations) return undefined;
    let observed = this.#byOperation.get(operation);
    if (!observed) this.#byOperation.set(operation, (observed = this.#open(operation, this.#observations)));
    return observed;
  }

  #open(operation: Operation, { seconds, backendRequests }: ExecutionObservations): OperationObservations {
    const label = rootFieldLabel(operation);
    return { seconds: seconds(label), backendRequests: backendRequests(label) };
  }
}

/** Names of the root fields of a schema: the labels that `ExecutionObservations` gets, and ''. */
export function rootFieldsOf(schema: GraphQLSchema): string[] {
  const types = [schema.getSubscriptionType(), schema.getQueryType(), schema.getMutationType()];
  return types.flatMap((type) => Object.keys(type?.getFields() ?? {}));
}
