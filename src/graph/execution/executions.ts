import type { GraphQLSchema } from 'graphql';
import type { Observations } from '../../metrics/observations.ts';
import type { Operation } from '../documents/operation.ts';
import { rootFieldNames } from './root-fields.ts';

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

/** Counts executions and observes their time and backend requests. An operation with several root fields has none of their names. */
export class Executions {
  /** Executions of events that have started. */
  ofEvents = 0;
  /** Executions that wait for a promise. */
  inFlight = 0;
  /** Results that members of a sharing group received from another member's execution. */
  sharedResults = 0;
  readonly #observations: ExecutionObservations | undefined;
  readonly #byOperation = new WeakMap<Operation, OperationObservations>();

  /** @param observations undefined: executions are only counted */
  constructor(observations?: ExecutionObservations) {
    this.#observations = observations;
  }

  /** An execution of the operation has settled. */
  settle(operation: Operation, ms: number, backendRequests = 0): void {
    if (!this.#observations) return;
    let observed = this.#byOperation.get(operation);
    if (!observed) this.#byOperation.set(operation, (observed = this.#open(operation, this.#observations)));
    observed.seconds.observe(ms / 1000);
    observed.backendRequests.observe(backendRequests);
  }

  #open(operation: Operation, { seconds, backendRequests }: ExecutionObservations): OperationObservations {
    const [field, ...others] = rootFieldNames(operation);
    const label = field === undefined || others.length > 0 ? '' : field;
    return { seconds: seconds(label), backendRequests: backendRequests(label) };
  }
}

/** Names of the root fields of a schema: the labels that `ExecutionObservations` gets, and ''. */
export function rootFieldsOf(schema: GraphQLSchema): string[] {
  const types = [schema.getSubscriptionType(), schema.getQueryType(), schema.getMutationType()];
  return types.flatMap((type) => Object.keys(type?.getFields() ?? {}));
}
