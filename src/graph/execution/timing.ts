import type { Operation } from '../documents/operation.ts';

/**
 * Executions of one operation that are timed together: each counts with their mean. To read the clock before and after each of them is dear
 * beside a small execution. Times are of performance.now().
 */
export class Timing {
  readonly operation: Operation;
  readonly startedAt: number;
  /** 0 until it has ended. */
  endedAt = 0;
  executions: number;
  /** Executions that have sent requests to backends. */
  requesting = 0;
  /** Of the last execution that has a span. */
  traceId: string | undefined = undefined;

  constructor(operation: Operation, startedAt: number, executions: number) {
    this.operation = operation;
    this.startedAt = startedAt;
    this.executions = executions;
  }
}
