import type { GraphQLFormattedError } from 'graphql';
import { clientError } from '../base/errors.ts';
import { refused } from './refusal.ts';
import type { Refusal } from './refusal.ts';

/** What the client of an operation receives that the new graph cannot run. @param errors why; the first is named */
export function schemaChanged([error]: readonly Pick<GraphQLFormattedError, 'message'>[]): Refusal {
  const message = `The schema has changed, and this operation does not fit it any more: ${error!.message}`;
  return refused([clientError('SCHEMA_CHANGED', message).toJSON()]);
}
