import { GraphQLError } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import { clientError } from '../errors.ts';
import type { Graph } from './graph.ts';

/**
 * Calls the graph's `authorize` for a subscription.
 * @returns undefined if it is allowed, else the error for the client. A GraphQLError that `authorize` throws is shown to the client; any
 * other throw becomes the `originalError` of a plain refusal.
 */
export async function refusalOf(
  graph: Pick<Graph, 'authorizers'>,
  field: string,
  args: Readonly<Record<string, unknown>>,
  context: ExecutionContext,
): Promise<GraphQLError | undefined> {
  const authorize = graph.authorizers.get(field);
  if (!authorize) return undefined;
  const message = `Not allowed to subscribe to "${field}".`;
  try {
    return (await authorize(args, context)) === false ? clientError('FORBIDDEN', message) : undefined;
  } catch (error) {
    if (error instanceof GraphQLError) {
      return error.extensions['code'] === undefined ? clientError('FORBIDDEN', error.message, error.extensions) : error;
    }
    const originalError = error instanceof Error ? error : new Error(String(error));
    return new GraphQLError(message, { extensions: { code: 'FORBIDDEN' }, originalError });
  }
}
