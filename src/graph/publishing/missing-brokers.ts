import type { Publication } from './publication.ts';

/** Why a pod with these brokers cannot serve these mutations; undefined if it can. */
export function missingBrokersProblem([first]: readonly Publication[], brokers: readonly string[]): string | undefined {
  if (!first || brokers.length > 0) return undefined;
  return `KAFKA_BROKERS: expected brokers, because Mutation.${first.field} has @kafkaPublish, got none`;
}
