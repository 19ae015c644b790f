import { SpanKind } from '@opentelemetry/api';
import { ExecutionTrace } from './execution-trace.ts';
import type { ActiveSpan, Spans } from './spans.ts';

/** Spans for the executions of one event; further executions are only counted. */
const MAX_EXECUTIONS = 8;
/** In ms: interval of looks at sockets that lag, and the longest wait for them. */
const LAG_INTERVAL_MS = 5;
const MAX_LAG_MS = 10_000;

/** A subscription, as a trace describes it. */
export interface TracedMember {
  readonly operation: { readonly key: string; readonly name: string | undefined };
  /** True while its socket has not accepted all of its results. */
  readonly isLagging: boolean;
}

export interface EventTraceOptions {
  readonly spans: Spans;
  /** The event's own span. */
  readonly span: ActiveSpan;
  /** Root field of its operations. */
  readonly field: string;
  /** Runs a job after those that wait now. */
  readonly schedule: (job: () => boolean) => void;
  /** True if every socket that takes bytes was given all of its messages. */
  readonly isWritten: () => boolean;
}

/** The spans of one sampled event of one channel: its delivery, its first executions, and the writing of its results. */
export class EventTrace {
  readonly #options: EventTraceOptions;
  readonly #executed: TracedMember[] = [];
  #write: ActiveSpan | undefined;
  #executions = 0;
  #running = 0;
  #isServed = false;
  #isChecking = false;
  #waitsUntil = 0;

  constructor(options: EventTraceOptions) {
    this.#options = options;
  }

  /** Starts the span of an execution; undefined: the event has enough of them. */
  startExecution(member: TracedMember): ExecutionTrace | undefined {
    if (++this.#executions > MAX_EXECUTIONS) return undefined;
    this.#executed.push(member);
    const { spans, span, field } = this.#options;
    const { key, name } = member.operation;
    const execution = spans.start(`execute ${field}`, {
      kind: SpanKind.INTERNAL,
      parent: span.context,
      attributes: {
        'graphql.operation.type': 'subscription',
        ...(name !== undefined && { 'graphql.operation.name': name.slice(0, 128) }),
        'crier.document': key,
      },
    });
    return execution && new ExecutionTrace(spans, execution);
  }

  /** The first result is handed to a socket's queue. */
  onResult(): void {
    const { spans, span, field } = this.#options;
    this.#write ??= spans.start(`write ${field}`, { kind: SpanKind.INTERNAL, parent: span.context, attributes: {} });
  }

  /** An execution did not settle at once. */
  onPending(): void {
    this.#running++;
  }

  /** A pending execution has settled, or its deadline has passed. */
  onSettled(): void {
    this.#running--;
    this.#check();
  }

  /** A job: every member has its result, or waits for an execution. */
  readonly onServed = (): true => {
    this.#isServed = true;
    this.#check();
    return true;
  };

  /** Members that waited for an execution are served by a job that is scheduled already: this looks again after it. */
  #check(): void {
    if (!this.#isServed || this.#running > 0 || this.#isChecking) return;
    this.#isChecking = true;
    this.#options.schedule(() => {
      this.#isChecking = false;
      if (this.#running > 0) return true;
      this.#waitsUntil = performance.now() + MAX_LAG_MS;
      // The sockets are written at the end of this turn.
      setImmediate(this.#awaitWrites);
      return true;
    });
  }

  readonly #awaitWrites = (): void => {
    const isLate = performance.now() >= this.#waitsUntil;
    if (!isLate) {
      if (!this.#options.isWritten()) return void setImmediate(this.#awaitWrites);
      if (this.#executed.some(({ isLagging }) => isLagging)) {
        return void setTimeout(this.#awaitWrites, LAG_INTERVAL_MS).unref();
      }
    }
    if (isLate) this.#write?.fail('timeout');
    else this.#write?.end();
    this.#options.span.set({ 'crier.executions': this.#executions });
    this.#options.span.end();
  };
}
