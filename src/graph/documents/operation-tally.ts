/** What an operation has cost so far. It lives as long as its `Operation`. Counted for timings of executions, never for a delivery. */
export class OperationTally {
  /** SHA-256 of the document's text, in hex. */
  readonly document: string;
  /** '' for an operation without a name. */
  readonly name: string;
  /** Live now. */
  subscriptions = 0;
  executions = 0;
  executionMs = 0;
  backendRequests = 0;
  /** Executions whose result has errors, and those that were not settled in time. */
  errors = 0;
  /** Messages with its results that the kernel has accepted. */
  deliveries = 0;

  constructor(document: string, name: string) {
    this.document = document;
    this.name = name;
  }
}
