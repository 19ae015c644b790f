import { getNamedType, isAbstractType, isObjectType } from 'graphql';
import type {
  GraphQLFieldResolver,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLResolveInfo,
  GraphQLSchema,
} from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import { ifAllowed, typeAuthorizerOf } from '../authorize.ts';
import type { AuthorizeType } from '../graph-parts.ts';
import { isThenable } from '../thenable.ts';
import { asError, isAsyncIterable, isIterable, itemsOf, listDepth } from './list-items.ts';
import { typeNameResolver } from './type-name-resolver.ts';

type Resolver = GraphQLFieldResolver<unknown, unknown>;

/** Returns a field's value, or a promise of it, if the `__authorize` of its type allows it. An item that is refused becomes an Error. */
type ValueCheck = (value: unknown, context: unknown, info: GraphQLResolveInfo) => unknown;

/** What checks the values of fields of this type; undefined: no type that they may have has an `__authorize`. */
export function valueCheck(schema: GraphQLSchema, type: GraphQLOutputType): ValueCheck | undefined {
  const named = getNamedType(type);
  const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : isObjectType(named) ? [named] : [];
  const authorizers = new Map(possible.map((one) => [one.name, authorizersOf(one)]));
  if ([...authorizers.values()].every(({ length }) => length === 0)) return undefined;
  const typeNameOf = isAbstractType(named) ? typeNameResolver(schema, named) : () => named.name;
  const check: ValueCheck = (value, context, info) => {
    if (value === null || value === undefined || value instanceof Error) return value;
    const ask = (left: readonly AuthorizeType[]): unknown => {
      const [authorize, ...others] = left;
      if (!authorize) return value;
      return ifAllowed(
        () => authorize(value, context as ExecutionContext),
        `read this "${named.name}"`,
        () => ask(others),
      );
    };
    return ask(authorizers.get(typeNameOf(value, context, info))!);
  };
  return checkAt(listDepth(type), check);
}

/** A resolver whose values are checked. */
export function withCheckedValues(check: ValueCheck, resolve: Resolver): Resolver {
  return (source, args, context, info) => check(resolve(source, args, context, info), context, info);
}

/** Its own and those of its interfaces: all of them must allow a value. */
function authorizersOf(type: GraphQLObjectType): readonly AuthorizeType[] {
  return [type, ...type.getInterfaces()].flatMap((one) => typeAuthorizerOf(one) ?? []);
}

/** @param depth lists around the value */
function checkAt(depth: number, check: ValueCheck): ValueCheck {
  const checkItem = depth > 0 ? checkAt(depth - 1, check) : undefined;
  return (value, context, info) => {
    // The `then` of another thenable may return a value that was not checked.
    if (isThenable(value))
      return Promise.resolve(value).then((settled) => checkAt(depth, check)(settled, context, info));
    if (!checkItem) return check(value, context, info);
    if (isAsyncIterable(value)) return itemsOf(value).then((items) => checkAt(depth, check)(items, context, info));
    if (!isIterable(value)) return value;
    return Array.from(value, (item) => {
      try {
        return checkItem(item, context, info);
      } catch (error) {
        return asError(error);
      }
    });
  };
}
