import type { GraphQLLeafType } from 'graphql';
import type { PublishNaming } from '../../base/json/key-naming.ts';

/** The checked @kafkaPublish directive of a Mutation field. */
export interface Publication {
  readonly field: string;
  readonly topic: string;
  readonly key: RecordKey | undefined;
  readonly keys: PublishNaming;
  readonly claims: readonly string[];
}

/** Where a record's key is in the arguments. */
export interface RecordKey {
  readonly path: readonly string[];
  readonly type: GraphQLLeafType;
}
