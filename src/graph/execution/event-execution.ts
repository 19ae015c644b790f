import type { FormattedExecutionResult } from 'graphql';
import type { Change } from '../../bus/change-text.ts';
import type { ConnectionFacts } from '../context/connection-facts.ts';
import { abandon, answerOf, beginRepeat, readsOf, settleRequests } from '../context/context.ts';
import type { ExecutionContext } from '../context/context.ts';
import type { EventRecord, SourceEvent } from '../context/event-record.ts';
import type { NeutralScope } from '../context/neutral-scope.ts';
import { freezeDeep } from '../../base/json/frozen.ts';
import { valueAt } from '../../base/json/value-at.ts';
import type { ExecutionInput, Executor } from './executor.ts';
import type { OperationPlan, SplitOperation } from './operation-plan.ts';
import type { Operation } from '../documents/operation.ts';
import type { Payload } from '../payload.ts';
import type { ExecutionTrace } from '../../ops/tracing/execution-trace.ts';
import type { RenderedTemplate } from '../projection/rendered-template.ts';
import type { EventListener, EventResult, PendingResult, StartedEvent } from './event-executor.ts';

type MaybePromise<T> = T | Promise<T>;

export interface EventPorts {
  readonly executor: Pick<Executor, 'planOf' | 'execute' | 'split'>;
  readonly scope: NeutralScope;
  readonly contextOf: (facts: ConnectionFacts, trace?: ExecutionTrace, event?: SourceEvent) => ExecutionContext;
  /** The record of an event; undefined: it does not come from Kafka. */
  readonly recordOf: (payload: Payload) => EventRecord | undefined;
  /** An execution with its errors masked; never rejects. */
  readonly run: (plan: OperationPlan, input: ExecutionInput) => MaybePromise<FormattedExecutionResult>;
  /** The text of a result; never throws. */
  readonly textOf: (result: FormattedExecutionResult) => string;
  /** The result to show instead of one that could not be computed. */
  readonly failed: (error: unknown) => FormattedExecutionResult;
}

/**
 * One event, executed for several subscriptions of one operation and one set of variables. The operation's template is rendered
 * once, and only its slots are executed for each subscription. The whole operation is executed instead where it has no
 * template, where the payload does not fit the schema, where the connection may not see all of the template's fields, or where the
 * execution of the slots meets an error.
 */
export class EventExecution implements SourceEvent, StartedEvent {
  readonly #ports: EventPorts;
  readonly #payload: Payload;
  /** null: the event does not come from Kafka; undefined: no resolver has read it yet. */
  #record: EventRecord | null | undefined;
  #plan: OperationPlan | undefined;
  #split: SplitOperation | undefined;
  /** null: it cannot be rendered; undefined: not tried yet. */
  #rendered: RenderedTemplate | null | undefined;

  /** @param operation of all listeners; default: that of the first one */
  constructor(ports: EventPorts, payload: Payload, operation?: Operation) {
    this.#ports = ports;
    this.#payload = payload;
    if (operation) this.#plan = ports.executor.planOf(operation);
  }

  execute(listener: EventListener, trace?: ExecutionTrace): EventResult | PendingResult {
    const { scope, executor } = this.#ports;
    const plan = (this.#plan ??= executor.planOf(listener.operation));
    if (this.#rendered === undefined) {
      const split = executor.split(plan);
      this.#rendered = (split && this.#payload.render?.(split.template)) ?? null;
      this.#split = split;
    }
    const rendered = this.#rendered;
    if (!rendered) return scope.run(this.#whole, this, plan, listener, trace);
    const split = this.#split!;
    // A null above every slot leaves no slots.
    const hasSlots = split.slots !== undefined && rendered.slots.length > 0;
    if (!hasSlots && split.accessReads === undefined) return { json: rendered.texts, reads: undefined };
    if (!split.template.rules.every((rule) => rule.answer(listener.facts) === 'ALLOWED')) {
      return scope.run(this.#refused, this, plan, split, listener, trace);
    }
    if (!hasSlots) return { json: rendered.texts, reads: split.accessReads };
    return scope.run(this.#fill, this, plan, split, rendered, listener, trace);
  }

  get record(): EventRecord | undefined {
    if (this.#record === undefined) this.#record = this.#ports.recordOf(this.#payload) ?? null;
    return this.#record ?? undefined;
  }

  get change(): Change | undefined {
    return this.#payload.change;
  }

  #contextOf(facts: ConnectionFacts, trace: ExecutionTrace | undefined): ExecutionContext {
    return this.#ports.contextOf(facts, trace, this);
  }

  /** The whole operation, which finds the fields that the connection may not see. */
  #refused(
    plan: OperationPlan,
    split: SplitOperation,
    listener: EventListener,
    trace: ExecutionTrace | undefined,
  ): MaybePromise<EventResult> {
    const context = this.#contextOf(listener.facts, trace);
    readRules(split, context);
    return this.#executeWhole(plan, listener, context);
  }

  #fill(
    plan: OperationPlan,
    split: SplitOperation,
    rendered: RenderedTemplate,
    listener: EventListener,
    trace: ExecutionTrace | undefined,
  ): MaybePromise<EventResult> {
    const { variables, facts } = listener;
    let rootValue: unknown;
    try {
      rootValue = this.#payload.value;
    } catch {
      return this.#whole(plan, listener, trace);
    }
    const context = this.#contextOf(facts, trace);
    readRules(split, context);
    const result = this.#ports.executor.execute(split.slots!, { rootValue, context, variables });
    if (!(result instanceof Promise)) return filled(rendered, result, context) ?? this.#again(plan, listener, context);
    return pending(
      result.then((settled) => filled(rendered, settled, context) ?? this.#again(plan, listener, context)),
      context,
    );
  }

  /** Executes the whole operation, after its slots were executed with the same context. */
  #again(plan: OperationPlan, listener: EventListener, context: ExecutionContext): MaybePromise<EventResult> {
    beginRepeat(context);
    return this.#executeWhole(plan, listener, context);
  }

  /**
   * Executes the whole operation, with copies of payload, document and variables that no other execution has; by graphql-js, because the
   * copied operation has a plan without uses. Never throws, never rejects.
   */
  repeat({ operation, variables, facts }: EventListener): MaybePromise<EventResult> {
    const payload = this.#payload.copy?.() ?? this.#payload;
    const copy = (this.#plan?.operation ?? operation).copy();
    const plan = this.#ports.executor.planOf(copy);
    const ownVariables = variables && structuredClone(variables);
    if (ownVariables) freezeDeep(ownVariables);
    const listener = { operation: copy, variables: ownVariables, facts };
    return new EventExecution(this.#ports, payload).#whole(plan, listener);
  }

  #whole(plan: OperationPlan, listener: EventListener, trace?: ExecutionTrace): MaybePromise<EventResult> {
    return this.#executeWhole(plan, listener, this.#contextOf(listener.facts, trace));
  }

  #executeWhole(
    plan: OperationPlan,
    { variables }: EventListener,
    context: ExecutionContext,
  ): MaybePromise<EventResult> {
    const { run, textOf, failed } = this.#ports;
    // The reads are taken last: a value may read the connection while it becomes text.
    const settle = (result: FormattedExecutionResult) => ({
      json: [Buffer.from(textOf(result).slice(0, -1))],
      reads: readsOf(context),
      backendRequests: settleRequests(context),
    });
    let rootValue: unknown;
    try {
      rootValue = this.#payload.value;
    } catch {
      return settle(
        failed(new Error('a message of the bus is not JSON, though its header says that a worker wrote it')),
      );
    }
    const result = run(plan, { rootValue, context, variables });
    return result instanceof Promise ? pending(result.then(settle), context) : settle(result);
  }
}

function pending(result: Promise<EventResult>, context: ExecutionContext): PendingResult {
  return Object.assign(result, { abandon: (reason: Error) => abandon(context, reason) });
}

/** Records the answers that decided between the template and the whole operation, for all executions of an event alike. */
function readRules({ template }: SplitOperation, context: ExecutionContext): void {
  for (const rule of template.rules) answerOf(context, rule);
}

/** The rendered text with the slots' values in it. undefined: the whole operation must be executed. */
function filled(
  { texts, slots }: RenderedTemplate,
  { data, errors }: { data?: unknown; errors?: unknown },
  context: ExecutionContext,
) {
  if (errors) return undefined;
  const json = [texts[0]!];
  try {
    for (let i = 0; i < slots.length; i++) {
      const text = JSON.stringify(valueAt(data, slots[i]!)) as string | undefined;
      if (text === undefined) return undefined;
      json.push(Buffer.from(text), texts[i + 1]!);
    }
  } catch {
    return undefined;
  }
  return { json, reads: readsOf(context), backendRequests: settleRequests(context) };
}
