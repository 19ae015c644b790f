import { randomBytes } from 'node:crypto';
import type { FormattedExecutionResult } from 'graphql';
import type { ConnectionFacts } from '../context/connection-facts.ts';
import { readsOf } from '../context/context.ts';
import type { ExecutionContext } from '../context/context.ts';
import type { FactReads } from '../context/fact-reads.ts';
import type { ExecutionInput, Executor } from './execution.ts';
import type { CutOperation, Operation } from './operation.ts';

/** What a subscription gives for one event. */
export interface EventResult {
  /** JSON text. */
  readonly json: string;
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
  readonly contextOf: (facts: ConnectionFacts) => ExecutionContext;
  /** An execution with its errors masked; never rejects. */
  readonly run: (operation: Operation, input: ExecutionInput) => MaybePromise<FormattedExecutionResult>;
  /** The text of a result; never throws. */
  readonly textOf: (result: FormattedExecutionResult) => string;
}

/** The text that all share, cut where a connection's own values go. */
interface Sheet {
  readonly own: Operation;
  /** One more than there are holes. */
  readonly texts: readonly string[];
  readonly holes: readonly (readonly string[])[];
}

/** Nobody who writes a payload knows it. */
const MARK = randomBytes(16).toString('hex');
const MARKS = new RegExp(`"${MARK}(\\d+)"`);

/**
 * One event, executed for one after another of those who have the same operation and variables. The first execution is of
 * the whole operation. From the second on, what is the same for all (`Stencil`) has become text, and only the fields that have
 * resolvers are executed; where that meets an error, or what the text has no place for, the whole operation has the last word.
 */
export class EventExecution {
  readonly #ports: EventPorts;
  readonly #payload: unknown;
  #isFirst = true;
  #sheet: Sheet | null | undefined;

  constructor(ports: EventPorts, payload: unknown) {
    this.#ports = ports;
    this.#payload = payload;
  }

  /** Never throws, never rejects. */
  execute(listener: EventListener): MaybePromise<EventResult> {
    const { operation, variables, facts } = listener;
    if (this.#isFirst) {
      this.#isFirst = false;
      return this.#whole(listener);
    }
    if (this.#sheet === undefined) {
      const cut = this.#ports.executor.cut(operation);
      this.#sheet = cut ? this.#sheetOf(cut, variables) : null;
    }
    const sheet = this.#sheet;
    if (!sheet) return this.#whole(listener);
    const context = this.#ports.contextOf(facts);
    const result = this.#ports.executor.execute(sheet.own, { rootValue: this.#payload, context, variables });
    if (!(result instanceof Promise)) return filled(sheet, result, context) ?? this.#whole(listener);
    return result.then((settled) => filled(sheet, settled, context) ?? this.#whole(listener));
  }

  #whole({ operation, variables, facts }: EventListener): MaybePromise<EventResult> {
    const { contextOf, run, textOf } = this.#ports;
    const context = contextOf(facts);
    // The reads are taken last: a value may read the connection while it becomes text.
    const settle = (result: FormattedExecutionResult) => ({ json: textOf(result), reads: readsOf(context) });
    const result = run(operation, { rootValue: this.#payload, context, variables });
    return result instanceof Promise ? result.then(settle) : settle(result);
  }

  #sheetOf({ common, own, holes }: CutOperation, variables: EventListener['variables']): Sheet | null {
    const result = this.#ports.executor.execute(common, { rootValue: this.#payload, context: undefined, variables });
    if (result instanceof Promise || result.errors || !result.data) return null;
    let marked = 0;
    holes.forEach((path, index) => {
      const holder = valueAt(result.data, path.slice(0, -1));
      const key = path.at(-1)!;
      if (holder === null || holder === undefined || !Object.hasOwn(holder, key)) return;
      (holder as Record<string, unknown>)[key] = `${MARK}${index}`;
      marked++;
    });
    // Texts, and between them the number of a hole.
    const pieces = this.#ports.textOf({ data: result.data }).split(MARKS);
    if (pieces.length !== 2 * marked + 1) return null;
    return {
      own,
      texts: pieces.filter((_, index) => index % 2 === 0),
      holes: pieces.filter((_, index) => index % 2 === 1).map((number) => holes[Number(number)]!),
    };
  }
}

/** undefined: the whole operation must be executed. */
function filled(
  { texts, holes }: Sheet,
  { data, errors }: { data?: unknown; errors?: unknown },
  context: ExecutionContext,
) {
  if (errors) return undefined;
  let json = texts[0]!;
  try {
    for (let i = 0; i < holes.length; i++) {
      const text = JSON.stringify(valueAt(data, holes[i]!)) as string | undefined;
      if (text === undefined) return undefined;
      json += text + texts[i + 1]!;
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
