import { parse, Source } from 'graphql';
import type { GraphQLError } from 'graphql';
import { UsageError } from '../base/errors.ts';
import { parseExactly } from '../base/json/exact-numbers.ts';
import { syntaxProblem } from '../graph/schema/sdl-problem.ts';

/** The address of a WebSocket: http and https become ws and wss; a URL without a path gets /graphql. @throws UsageError */
export function webSocketUrl(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text.replace(/^http/, 'ws')) : undefined;
  if (url?.protocol !== 'ws:' && url?.protocol !== 'wss:') {
    throw new UsageError(`${option}: expected a URL such as ws://localhost:4000/graphql, got ${JSON.stringify(text)}`);
  }
  if (url.pathname === '/') url.pathname = '/graphql';
  return url.href;
}

/** A mistake of the syntax needs no server. @throws UsageError */
export function checkedDocument(option: string, text: string): string {
  try {
    parse(new Source(text, option));
    return text;
  } catch (error) {
    throw new UsageError(syntaxProblem(error as GraphQLError), { cause: error });
  }
}

/** @throws UsageError */
export function jsonObject(option: string, text: string): Record<string, unknown> {
  try {
    const value = parseExactly(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new UsageError(`${option}: expected a JSON object such as {"id":"1"}, got ${JSON.stringify(text)}`);
}
