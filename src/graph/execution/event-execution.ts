import type { FormattedExecutionResult } from 'graphql';
import type { ConnectionFacts } from '../../context/connection-facts.ts';
import { readsOf } from '../../context/context.ts';
import type { ExecutionContext } from '../../context/context.ts';
import type { NeutralScope } from '../../context/neutral-scope.ts';
import type { FactReads } from '../../context/fact-reads.ts';
import { freezeDeep } from '../../json/frozen.ts';
import type { ExecutionInput, Executor } from './execution.ts';
import type { Operation } from '../documents/operation.ts';
import type { Payload } from '../payload.ts';
import type { Sheet } from '../projection/template.ts';

/** What a subscription gives for one event. */
export interface EventResult {
  /** JSON text in pieces, the first of which is the opening brace. Results of one event share pieces that are the same. */
  readonly json: readonly Buffer[];
  /** All that the text may depend on of the connection; undefined: nothing. */
  readonly reads: FactReads | undefined;
}

/** For whom an event is executed. */
export interface EventListener {
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly facts: ConnectionFacts;
}

type MaybePromise<T> = T | Promise<T>;

export interface EventPorts {
  readonly executor: Pick<Executor, 'execute' | 'cut'>;
  readonly scope: NeutralScope;
  readonly contextOf: (facts: ConnectionFacts) => ExecutionContext;
  /** An execution with its errors masked; never rejects. */
  readonly run: (operation: Operation, input: ExecutionInput) => MaybePromise<FormattedExecutionResult>;
  /** The text of a result; never throws. */
  readonly textOf: (result: FormattedExecutionResult) => string;
  /** What is shown instead of a result. */
  readonly failed: (error: unknown) => FormattedExecutionResult;
}

/**
 * One event, executed for one after another of those who have the same operation and variables. What is the same for all
 * (`Stencil`) is made once, and only fields with resolvers are executed for each; where the payload is not what the schema
 * says, or an execution meets an error, the whole operation is executed and has the last word.
 */
export class EventExecution {
  readonly #ports: EventPorts;
  readonly #payload: Payload;
  #own: Operation | undefined;
  #sheet: Sheet | null | undefined;

  constructor(ports: EventPorts, payload: Payload) {
    this.#ports = ports;
    this.#payload = payload;
  }

  /** Never throws, never rejects. */
  execute(listener: EventListener): MaybePromise<EventResult> {
    const { operation } = listener;
    if (this.#sheet === undefined) {
      const cut = this.#ports.executor.cut(operation);
      this.#sheet = (cut && this.#payload.printed?.(cut)) ?? null;
      this.#own = cut?.own;
    }
    const sheet = this.#sheet;
    const { scope } = this.#ports;
    if (!sheet) return scope.run(this.#whole, this, listener);
    // Also where a null is above all holes.
    if (!this.#own || sheet.holes.length === 0) return { json: [OPENING_BRACE, ...sheet.texts], reads: undefined };
    return scope.run(this.#fill, this, sheet, this.#own, listener);
  }

  #fill(sheet: Sheet, own: Operation, listener: EventListener): MaybePromise<EventResult> {
    const { variables, facts } = listener;
    let rootValue: unknown;
    try {
      rootValue = this.#payload.value;
    } catch {
      return this.#whole(listener);
    }
    const context = this.#ports.contextOf(facts);
    const result = this.#ports.executor.execute(own, { rootValue, context, variables });
    if (!(result instanceof Promise)) return filled(sheet, result, context) ?? this.#whole(listener);
    return result.then((settled) => filled(sheet, settled, context) ?? this.#whole(listener));
  }

  /**
   * Executes the whole operation on graphql-js, with a payload, a document and variables that no other execution has: for the sharing audit.
   * Never throws, never rejects.
   */
  repeat({ operation, variables, facts }: EventListener): MaybePromise<EventResult> {
    const payload = this.#payload.copy?.() ?? this.#payload;
    const own = variables && structuredClone(variables);
    if (own) freezeDeep(own);
    return new EventExecution(this.#ports, payload).#whole({ operation: operation.copy(), variables: own, facts });
  }

  #whole({ operation, variables, facts }: EventListener): MaybePromise<EventResult> {
    const { contextOf, run, textOf, failed } = this.#ports;
    const context = contextOf(facts);
    // The reads are taken last: a value may read the connection while it becomes text.
    const settle = (result: FormattedExecutionResult) => ({
      json: [OPENING_BRACE, Buffer.from(textOf(result).slice(1))],
      reads: readsOf(context),
    });
    let rootValue: unknown;
    try {
      rootValue = this.#payload.value;
    } catch {
      return settle(
        failed(new Error('a message of the bus is not JSON, though its header says that a worker wrote it')),
      );
    }
    const result = run(operation, { rootValue, context, variables });
    return result instanceof Promise ? result.then(settle) : settle(result);
  }
}

const OPENING_BRACE = Buffer.from('{');

/** undefined: the whole operation must be executed. */
function filled(
  { texts, holes }: Sheet,
  { data, errors }: { data?: unknown; errors?: unknown },
  context: ExecutionContext,
) {
  if (errors) return undefined;
  const json = [OPENING_BRACE, texts[0]!];
  try {
    for (let i = 0; i < holes.length; i++) {
      const text = JSON.stringify(valueAt(data, holes[i]!)) as string | undefined;
      if (text === undefined) return undefined;
      json.push(Buffer.from(text), texts[i + 1]!);
    }
  } catch {
    return undefined;
  }
  return { json, reads: readsOf(context) };
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value;
}
