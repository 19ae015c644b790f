import kafkajs from 'kafkajs';
import { SetupError } from '../errors.ts';

/** The error to throw: unreachable brokers and missing rights need no stack. */
export function kafkaFailure(error: unknown): unknown {
  return error instanceof kafkajs.KafkaJSError ? new SetupError(error.message, { cause: error }) : error;
}
