import { existsSync } from 'node:fs';
import { Kind, parse, Source } from 'graphql';
import type { DocumentNode, GraphQLError } from 'graphql';
import { UsageError } from '../base/errors.ts';
import { onOneLine } from '../base/visible.ts';
import { parseExactly } from '../base/json/exact-numbers.ts';
import { syntaxProblem } from '../graph/schema/syntax-problem.ts';

/** The address of a WebSocket: http and https become ws and wss; a URL without a path gets /graphql. @throws UsageError */
export function webSocketUrl(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text.replace(/^http/, 'ws')) : undefined;
  if (url?.protocol !== 'ws:' && url?.protocol !== 'wss:') {
    throw new UsageError(`${option}: expected a URL such as ws://localhost:4000/graphql, got ${JSON.stringify(text)}`);
  }
  if (url.pathname === '/') url.pathname = '/graphql';
  return url.href;
}

/** Mistakes of the syntax, and several operations, need no server. @throws UsageError */
export function checkedDocument(option: string, text: string): string {
  const operations = parsed(option, text).definitions.flatMap((one) =>
    one.kind === Kind.OPERATION_DEFINITION ? [one.name?.value ?? `${one.operation} without a name`] : [],
  );
  if (operations.length === 1) return text;
  const found = operations.length === 0 ? 'none' : operations.join(', ');
  throw new UsageError(`${option}: expected one operation, got ${onOneLine(found)}`);
}

function parsed(option: string, text: string): DocumentNode {
  try {
    return parse(new Source(text, option));
  } catch (error) {
    if (/^\s*subscription\s*$/.test(text))
      throw new UsageError(`${option}: got the first word alone; put the whole into quotes: 'subscription { … }'`);
    if (existsSync(text))
      throw new UsageError(
        `${option}: expected a subscription, got the name of a file; pass its text: "$(cat ${text})"`,
      );
    const [, field] = /^\s*(?!(?:subscription|query|mutation|fragment)\b)(\w+)\b/.exec(text) ?? [];
    const fix = field === undefined ? '' : `\n\nBegin with the word subscription: subscription { ${field} … }`;
    throw new UsageError(syntaxProblem(error as GraphQLError, false) + fix, { cause: error });
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
