/** Longest time in ms from a call to its outcome. */
export const PRODUCE_TIMEOUT_MS = 5000;

/**
 * - `unwritten`: the record was not sent
 * - `refused`: the brokers answered that they do not take it
 * - `unconfirmed`: the record was sent, and no answer came; it may have been written
 */
export type ProduceFailure = 'unwritten' | 'refused' | 'unconfirmed';

const MESSAGES: Readonly<Record<ProduceFailure, string>> = {
  unwritten: 'the record was not sent',
  refused: 'Kafka refused the record',
  unconfirmed: 'Kafka has not confirmed the record',
};

/** `cause`: the error of kafkajs. */
export class ProduceError extends Error {
  override readonly name = 'ProduceError';
  readonly failure: ProduceFailure;

  constructor(failure: ProduceFailure, cause: unknown) {
    super(MESSAGES[failure], { cause });
    this.failure = failure;
  }
}
