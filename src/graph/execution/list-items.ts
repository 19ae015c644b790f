import { isListType, isNonNullType } from 'graphql';
import type { GraphQLFieldResolver, GraphQLOutputType } from 'graphql';
import { IS_17 } from '../graphql-version.ts';
import { isThenable } from '../thenable.ts';

type Resolver = GraphQLFieldResolver<unknown, unknown>;

/** Lists around a type. */
export function listDepth(type: GraphQLOutputType): number {
  if (isNonNullType(type)) return listDepth(type.ofType);
  return isListType(type) ? 1 + listDepth(type.ofType) : 0;
}

/**
 * Converts lists for compiled code, which puts the null of a rejected item at the wrong index and fails if an iterator throws. A
 * rejection becomes an Error value, which both executors treat as the item's error.
 */
export function settled(resolve: Resolver, depth: number): Resolver {
  return (source, args, context, info) => {
    const value = resolve(source, args, context, info);
    return isThenable(value)
      ? Promise.resolve(value).then((list) => settleItems(list, depth))
      : settleItems(value, depth);
  };
}

function settleItems(list: unknown, depth: number): unknown {
  if (isAsyncIterable(list)) return itemsOf(list).then((items) => settleItems(items, depth));
  if (!isIterable(list)) return list;
  const items: unknown[] = Array.isArray(list) ? list : Array.from(list);
  let changed: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    let next = item;
    if (isThenable(item))
      next = Promise.resolve(item).then((value) => (depth > 1 ? settleItems(value, depth - 1) : value), asError);
    else if (depth > 1) next = settleItems(item, depth - 1);
    if (next !== item) (changed ??= items.slice())[i] = next;
  }
  return changed ?? items;
}

/** True for every object whose items graphql-js 17 awaits. 16 and compiled code do not take it for a list. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return IS_17 && typeof (value as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === 'function';
}

/** Rejects with what the iterable throws: graphql-js takes it for the error of the whole list. */
export async function itemsOf(list: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of list) items.push(item);
  return items;
}

export function asError(reason: unknown): Error {
  return reason instanceof Error
    ? reason
    : new Error('A promise in a list was rejected with what is not an Error', { cause: reason });
}

/** True for every value that graphql-js or compiled code takes for a list. Of a function only compiled code reads the items. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  const isObject = typeof value === 'object' || typeof value === 'function';
  return isObject && typeof (value as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] === 'function';
}
