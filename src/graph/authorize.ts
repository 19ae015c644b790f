import { GraphQLError } from 'graphql';
import type { GraphQLField, GraphQLFieldResolver, GraphQLInterfaceType, GraphQLObjectType } from 'graphql';
import type { ExecutionContext } from './context/context.ts';
import { clientError, isGraphQLError } from '../base/errors.ts';
import { accessRuleOf } from './access/access-rule.ts';
import type { AuthorizeField, AuthorizeType, Graph } from './graph-parts.ts';
import type { Binding } from './schema/binding.ts';
import { isThenable } from './thenable.ts';

type Field = GraphQLField<unknown, unknown>;
type Resolver = GraphQLFieldResolver<unknown, unknown>;
type AuthorizedType = GraphQLObjectType | GraphQLInterfaceType;
type Answer = boolean | PromiseLike<boolean>;

/** Key in the extensions of types that have an `__authorize`, and of fields that have an `authorize`, Subscription fields excepted. */
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
    if (isGraphQLError(error)) return withCode(error);
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

export function typeAuthorizerOf({ extensions }: Pick<AuthorizedType, 'extensions'>): AuthorizeType | undefined {
  return extensions[AUTHORIZE] as AuthorizeType | undefined;
}

export function setTypeAuthorizer(type: AuthorizedType, authorize: AuthorizeType): void {
  type.extensions = { ...type.extensions, [AUTHORIZE]: authorize };
}

/** A resolver that runs only if `authorize` allows it. @param use what is refused, such as `read "Order.total"` */
export function authorized(authorize: AuthorizeField, use: string, resolve: Resolver): Resolver {
  return (source, args, context, info) =>
    ifAllowed(
      () => authorize(source, args as Record<string, unknown>, context as ExecutionContext),
      use,
      () => resolve(source, args, context, info),
    );
}

/**
 * The outcome of `next` if the graph's code gives the answer true, else a throw. Without a promise of that code it adds none.
 * @param what is refused, such as `read "Order.total"`
 */
export function ifAllowed(ask: () => Answer, what: string, next: () => unknown): unknown {
  const check = (isAllowed: boolean) => {
    // A rule such as `roles?.includes('admin')` gives undefined where there are no roles.
    if (isAllowed !== true) throw clientError('FORBIDDEN', `Not allowed to ${what}.`);
    return next();
  };
  let answer: Answer;
  try {
    answer = ask();
  } catch (error) {
    throw shown(error);
  }
  if (!isThenable(answer)) return check(answer);
  return answer.then(check, (error: unknown) => {
    throw shown(error);
  });
}

/** The code of a GraphQLError without one is FORBIDDEN. Any other error is masked like that of a resolver. */
function shown(error: unknown): unknown {
  return isGraphQLError(error) ? withCode(error) : error;
}

function withCode(error: GraphQLError): GraphQLError {
  return error.extensions['code'] === undefined ? clientError('FORBIDDEN', error.message, error.extensions) : error;
}
