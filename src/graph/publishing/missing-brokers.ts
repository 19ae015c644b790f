import type { Config } from '../../config/config.ts';
import type { Publication } from './publication.ts';

/** Why a pod with these brokers cannot serve these mutations; undefined if it can. */
export function missingBrokersProblem(
  [first]: readonly Publication[],
  { KAFKA_BROKERS: brokers, names }: Pick<Config, 'KAFKA_BROKERS' | 'names'>,
): string | undefined {
  if (!first || brokers.length > 0) return undefined;
  return `${names.KAFKA_BROKERS}: expected brokers, because Mutation.${first.field} has @kafkaPublish, got none`;
}
