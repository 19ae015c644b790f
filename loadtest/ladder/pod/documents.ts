import { createHash } from 'node:crypto';
import { createSourceEventStream, parse, subscribe, validate } from 'graphql';
import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { CompiledQuery } from 'graphql-jit';
import type { ServerOptions } from 'graphql-ws';
import { LRUCache } from 'lru-cache';
import type { Parts } from './parts.ts';

const MAX_DOCUMENTS = 1000;

export type DocumentOptions = Pick<ServerOptions, 'parse' | 'validate' | 'subscribe'>;

/**
 * The options of graphql-ws that concern documents. By default it parses and validates for each subscription, and runs graphql-js for
 * each event.
 */
export function documentOptions(version: Parts['documents'], schema: GraphQLSchema): DocumentOptions {
  if (version === 'with-locations') return {};
  const parseWithoutLocations: typeof parse = (source) => parse(source, { noLocation: true });
  return version === 'without-locations'
    ? { parse: parseWithoutLocations }
    : cachedDocuments(schema, parseWithoutLocations);
}

interface Item {
  readonly document: DocumentNode;
  readonly errors: readonly GraphQLError[];
  readonly compiled: CompiledQuery | undefined;
}

/**
 * As in the talk, `parse` looks up the SHA-256 of the text in an LRU of documents, and an event runs the document's compiled form.
 * Unlike in the talk, validation errors are cached as well.
 */
function cachedDocuments(schema: GraphQLSchema, parseText: typeof parse): DocumentOptions {
  const items = new LRUCache<string, Item>({ max: MAX_DOCUMENTS });
  const byDocument = new WeakMap<DocumentNode, Item>();
  return {
    parse: (source) => {
      const text = typeof source === 'string' ? source : source.body;
      const key = createHash('sha256').update(text).digest('hex');
      let item = items.get(key);
      if (!item) {
        item = createItem(schema, parseText(text));
        items.set(key, item);
        byDocument.set(item.document, item);
      }
      return item.document;
    },
    validate: (_schema, document) => byDocument.get(document)?.errors ?? validate(schema, document),
    subscribe: (args) => {
      const compiled = byDocument.get(args.document)?.compiled;
      return compiled ? subscribeCompiled(args, compiled) : subscribe(args);
    },
  };
}

function createItem(schema: GraphQLSchema, document: DocumentNode): Item {
  const errors = validate(schema, document);
  const compiled = errors.length === 0 ? compileQuery(schema, document) : undefined;
  return { document, errors, compiled: compiled && isCompiledQuery(compiled) ? compiled : undefined };
}

/** graphql-js's `subscribe` with the compiled query in place of `execute`. */
async function subscribeCompiled(
  args: ExecutionArgs,
  { query }: CompiledQuery,
): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> {
  const events = await createSourceEventStream(args);
  if (!(Symbol.asyncIterator in events)) return events;
  const source = events[Symbol.asyncIterator]();
  const end = { value: undefined, done: true } as const;
  const results: AsyncGenerator<ExecutionResult, void, void> = {
    next: async () => {
      const event = await source.next();
      if (event.done) return end;
      return { value: await query(event.value, args.contextValue, args.variableValues ?? {}), done: false };
    },
    return: async () => {
      await source.return?.();
      return end;
    },
    throw: (error) => Promise.reject(error as Error),
    [Symbol.asyncIterator]: () => results,
  };
  return results;
}
