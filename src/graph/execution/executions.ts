import type { GraphQLSchema } from 'graphql';
import type { Observations } from '../../ops/metrics/observations.ts';
import type { Operation } from '../documents/operation.ts';
import { OperationTallies } from '../documents/operation-tallies.ts';
import { Lap } from './lap.ts';
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
const LAP_EXECUTIONS = 16;
/** Age in ms at which a lap ends when the clock is read. */
const LAP_MS = 0.5;

/**
 * Counts executions and observes their time and backend requests. An operation with several root fields has none of their names.
 *
 * Executions of events that follow each other and settle at once are timed in laps; an execution that waits for a promise is timed by itself.
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
  /** The open lap. */
  #lap: Lap | undefined;

  /** @param observations undefined: executions are only counted */
  constructor(observations?: ExecutionObservations, tallies = new OperationTallies()) {
    this.#observations = observations;
    this.tallies = tallies;
  }

  /** An execution of an event begins. Returns its lap. */
  begin(operation: Operation): Lap {
    this.ofEvents++;
    let lap = this.#lap;
    if (lap === undefined || lap.operation !== operation || lap.executions % LAP_EXECUTIONS === 0) {
      lap = this.#lapFor(operation, performance.now());
    }
    lap.executions++;
    return lap;
  }

  /** A member receives the result of another member's execution. */
  share(): void {
    this.sharedResults++;
    this.endLap();
  }

  /** The execution that began last has settled, with requests to backends. */
  addRequests(lap: Lap, backendRequests: number): void {
    lap.requesting++;
    lap.operation.tally.backendRequests += backendRequests;
    this.#of(lap.operation)?.backendRequests.observe(backendRequests);
  }

  /** The execution that began last waits for a promise. Returns a lap for it alone, which `settle` must end. */
  suspend(): Lap {
    const lap = this.#lap!;
    this.#lap = undefined;
    if (lap.executions === 1) return lap;
    const now = performance.now();
    const startedAt = now - (now - lap.startedAt) / lap.executions;
    lap.executions--;
    this.#end(lap, startedAt);
    return new Lap(lap.operation, startedAt, 1);
  }

  /** A lap's only execution has settled. */
  settle(lap: Lap, backendRequests = 0): void {
    if (backendRequests > 0) this.addRequests(lap, backendRequests);
    this.#end(lap, performance.now());
  }

  /** No other execution follows at once: ends the open lap. */
  endLap(): void {
    if (this.#lap === undefined) return;
    this.#end(this.#lap, performance.now());
    this.#lap = undefined;
  }

  /** A client has requested the operation. */
  note(operation: Operation): void {
    this.tallies.note(operation.tally, () => rootFieldLabel(operation));
  }

  /** The open lap, unless it is over, or the next one. */
  #lapFor(operation: Operation, now: number): Lap {
    if (this.#lap) {
      if (this.#lap.operation === operation && now - this.#lap.startedAt < LAP_MS) return this.#lap;
      this.#end(this.#lap, now);
    }
    return (this.#lap = new Lap(operation, now, 0));
  }

  #end(lap: Lap, now: number): void {
    lap.endedAt = now;
    const { tally } = lap.operation;
    tally.executions += lap.executions;
    tally.executionMs += now - lap.startedAt;
    const observed = this.#of(lap.operation);
    if (!observed) return;
    observed.seconds.observe((now - lap.startedAt) / 1000 / lap.executions, lap.executions, lap.traceId);
    if (lap.executions > lap.requesting) observed.backendRequests.observe(0, lap.executions - lap.requesting);
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
