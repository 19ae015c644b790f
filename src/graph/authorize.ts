import { GraphQLError } from 'graphql';
import type { GraphQLField, GraphQLFieldResolver } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import { clientError } from '../errors.ts';
import { accessRuleOf } from './access/access-rule.ts';
import type { AuthorizeField, Graph } from './graph.ts';
import type { Binding } from './schema/binding.ts';

type Field = GraphQLField<unknown, unknown>;
type Resolver = GraphQLFieldResolver<unknown, unknown>;

/** Key in the extensions of fields that have an `authorize`, Subscription fields excepted. */
const AUTHORIZE = 'crier.authorize';

export function authorizerOf(field: Field): AuthorizeField | undefined {
  return field.extensions[AUTHORIZE] as AuthorizeField | undefined;
}

export function setAuthorizer(field: Field, authorize: AuthorizeField): void {
  field.extensions = { ...field.extensions, [AUTHORIZE]: authorize };
}

/**
 * Checks the directives of a Subscription field, then calls the graph's `authorize`.
 * @returns undefined if it is allowed, else the error for the client. A GraphQLError that `authorize` throws is shown to the client; any
 * other throw becomes the `originalError` of a plain refusal.
 */
export async function refusalOf(
  { authorizers }: Pick<Graph, 'authorizers'>,
  field: Pick<Field, 'name' | 'extensions'>,
  args: Readonly<Record<string, unknown>>,
  context: ExecutionContext,
): Promise<GraphQLError | undefined> {
  const what = `subscribe to "${field.name}"`;
  const refusal = accessRuleOf(field)?.refusal(context, what);
  const authorize = authorizers.get(field.name);
  if (refusal || !authorize) return refusal;
  const message = `Not allowed to ${what}.`;
  try {
    return (await authorize(args, context)) === false ? clientError('FORBIDDEN', message) : undefined;
  } catch (error) {
    if (error instanceof GraphQLError) return withCode(error);
    const originalError = error instanceof Error ? error : new Error(String(error));
    return new GraphQLError(message, { extensions: { code: 'FORBIDDEN' }, originalError });
  }
}

/** The refusal of a subscription whose connection lacks a claim of the binding's `where`. */
export function missingClaim({ field, where }: Pick<Binding, 'field' | 'where'>): GraphQLError {
  const claims = where.map(({ claim }) => `"${claim}"`).join(', ');
  return clientError(
    'FORBIDDEN',
    `Not allowed to subscribe to "${field}" without a value in each of the claims ${claims}.`,
  );
}

/** A resolver that runs only if `authorize` allows it. Without a promise of `authorize` it adds none. */
export function authorized(authorize: AuthorizeField, coordinate: string, resolve: Resolver): Resolver {
  const check = (isAllowed: boolean) => {
    // A rule such as `roles?.includes('admin')` gives undefined where there are no roles.
    if (isAllowed !== true) throw clientError('FORBIDDEN', `Not allowed to read "${coordinate}".`);
  };
  return (source, args, context, info) => {
    let answer: ReturnType<AuthorizeField>;
    try {
      answer = authorize(source, args as Record<string, unknown>, context as ExecutionContext);
    } catch (error) {
      throw shown(error);
    }
    if (isPromiseLike(answer)) {
      return answer.then(
        (isAllowed) => {
          check(isAllowed);
          return resolve(source, args, context, info);
        },
        (error: unknown) => {
          throw shown(error);
        },
      );
    }
    check(answer);
    return resolve(source, args, context, info);
  };
}

/** Also for a query builder, which is no Promise. */
function isPromiseLike(answer: ReturnType<AuthorizeField>): answer is PromiseLike<boolean> {
  return typeof (answer as Partial<PromiseLike<boolean>> | undefined)?.then === 'function';
}

/** The code of a GraphQLError without one is FORBIDDEN. Any other error is masked like that of a resolver. */
function shown(error: unknown): unknown {
  return error instanceof GraphQLError ? withCode(error) : error;
}

function withCode(error: GraphQLError): GraphQLError {
  return error.extensions['code'] === undefined ? clientError('FORBIDDEN', error.message, error.extensions) : error;
}
