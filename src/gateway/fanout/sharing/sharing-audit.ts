import { setImmediate } from 'node:timers/promises';
import type { ConnectionFacts } from '../../../graph/context/connection-facts.ts';
import { factNames, areSameReads, readKey, copyReads } from '../../../graph/context/fact-reads.ts';
import type { FactReads } from '../../../graph/context/fact-reads.ts';
import type { EventListener, EventResult, StartedEvent } from '../../../graph/execution/event-executor.ts';
import type { Operation } from '../../../graph/documents/operation.ts';
import { LogWindow } from '../../../base/log.ts';
import type { Logger } from '../../../base/log.ts';
import { resultText } from '../outbox/frame.ts';
import type { ResultBytes } from '../outbox/frame.ts';
import { firstDifference } from './result-difference.ts';
import type { Subscription } from '../subscription.ts';

/**
 * - `same`: a second execution gave the result that the member was sent
 * - `differs_by_user`: executions for two members gave different results, though their connections agree on all facts read
 * - `differs_by_chance`: an execution differed from itself, or the result changed with time for both members
 * - `reads_differ`: two executions read different facts, though no fact that both read differs
 */
export type AuditOutcome = 'same' | 'differs_by_user' | 'differs_by_chance' | 'reads_differ';

export interface SharingAuditOptions {
  /** Share of the shared deliveries that are checked, 0 to 1. */
  readonly share: number;
  /** Response paths of the fields that have a resolver. */
  readonly resolverPaths: (operation: Operation) => readonly string[];
  readonly log: Logger;
  readonly onOutcome: (outcome: AuditOutcome) => void;
}

/** Deliveries checked at a time; further deliveries are not sampled meanwhile. */
const MAX_RUNNING = 16;
/** After this time a check that has not ended no longer counts as running: a resolver may never settle. */
const MAX_CHECK_MS = 30_000;
/** Read sets by which the executions of one event are compared. */
const MAX_EXAMPLES = 4;
const LOG_WINDOW_MS = 10_000;

const HINT =
  'if the resolver depends on time or chance, this is a false alarm; if it keeps something between executions, fix it, or set @kafka(shared: false) on the subscription field';
const MESSAGES: Readonly<Record<Exclude<AuditOutcome, 'same'>, string>> = {
  differs_by_user: `a shared result is not what the member's own execution gives: a resolver is not a function of what it read; ${HINT}`,
  differs_by_chance: `a shared result differs from a second execution, for the same member or for each: a resolver depends on time or chance; one that draws lots or counts its calls needs @kafka(shared: false) on the subscription field, one that depends on time does not`,
  reads_differ: `two executions of one event read different facts of connections that agree: a resolver is not a function of what it read; ${HINT}`,
};

/** Tests THE RULE of `sharing.ts` on a sample of shared deliveries. Its executions run in a later turn; their results are not sent. */
export class SharingAudit {
  /** `SharingAuditOptions.share`. A change acts at the next event. */
  share: number;
  readonly #options: SharingAuditOptions;
  readonly #logWindow = new LogWindow(LOG_WINDOW_MS);
  #running = 0;

  constructor(options: SharingAuditOptions) {
    this.#options = options;
    this.share = options.share;
  }

  /** Audits the results of one event; undefined while the share is 0. */
  startEvent(event: StartedEvent): EventAudit | undefined {
    return this.share === 0 ? undefined : new EventAudit(this, event);
  }

  /** Runs a check of one delivery in a later turn, if the delivery is in the sample. */
  sample(check: () => Promise<void>): void {
    if (this.#running >= MAX_RUNNING || Math.random() >= this.share) return;
    this.#running++;
    void this.#run(check);
  }

  resolverPaths(operation: Operation): readonly string[] {
    return this.#options.resolverPaths(operation);
  }

  report(outcome: AuditOutcome, member: Subscription, details: object): void {
    const { log, onOutcome } = this.#options;
    onOutcome(outcome);
    if (outcome === 'same') return;
    const operation = member.operation.name;
    this.#logWindow.run(outcome, (suppressed) =>
      log[outcome === 'differs_by_chance' ? 'warn' : 'error'](
        { ...details, operation, suppressed },
        `sharing audit: ${MESSAGES[outcome]}`,
      ),
    );
  }

  onFailure(error: unknown): void {
    this.#logWindow.run('failed', (suppressed) =>
      this.#options.log.error({ err: error, suppressed }, 'sharing audit: a check failed'),
    );
  }

  async #run(check: () => Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_CHECK_MS)));
    timer?.unref();
    try {
      await setImmediate();
      await Promise.race([check(), deadline]);
    } catch (error) {
      this.onFailure(error);
    } finally {
      clearTimeout(timer);
      this.#running--;
    }
  }
}

interface Example {
  readonly readSet: FactReads;
  readonly facts: ConnectionFacts;
}

/** The audit of one event of a group. `onExecuted` and `onShared` never throw: the audit logs its own failures. */
export class EventAudit {
  readonly #audit: SharingAudit;
  readonly #event: Pick<StartedEvent, 'repeat'>;
  /** The listener that a result was computed for. */
  readonly #authors = new Map<ResultBytes, EventListener>();
  /** One execution for each read set. */
  readonly #examples: Example[] = [];

  constructor(audit: SharingAudit, event: Pick<StartedEvent, 'repeat'>) {
    this.#audit = audit;
    this.#event = event;
  }

  /** A member received the result of its own execution, which other members may receive, too. */
  onExecuted(member: Subscription, result: ResultBytes, execution: EventResult): void {
    try {
      this.#compare(member, result, execution);
    } catch (error) {
      this.#audit.onFailure(error);
    }
  }

  #compare(member: Subscription, result: ResultBytes, { reads }: EventResult): void {
    this.#authors.set(result, listenerOf(member));
    if (this.#examples.some(({ readSet }) => areSameReads(readSet, reads ?? copyReads(undefined)))) return;
    const own = { readSet: copyReads(reads), facts: member.facts };
    const other = this.#examples.find((example) => agree(own, example) || agree(example, own));
    if (other) {
      const fields = this.#audit.resolverPaths(member.operation);
      const read = [factNames(own.readSet), factNames(other.readSet)];
      this.#audit.report('reads_differ', member, { field: fieldOf(fields), fields, read });
    }
    if (this.#examples.length < MAX_EXAMPLES) this.#examples.push(own);
  }

  /** A member received the result of another member's execution. */
  onShared(member: Subscription, result: ResultBytes): void {
    const { facts } = member;
    this.#audit.sample(() => this.#check(member, facts, result));
  }

  /** @param facts that the member had when it received the result */
  async #check(member: Subscription, facts: ConnectionFacts, result: ResultBytes): Promise<void> {
    const author = this.#authors.get(result)!;
    const receiver = { ...listenerOf(member), facts };
    const own = await this.#repeat(receiver);
    const path = firstDifference(resultText(result), own);
    if (path === undefined) return this.#audit.report('same', member, {});
    // Between two equal executions for the member, so that time cannot be the cause of a difference.
    const others = await this.#repeat(author);
    const again = await this.#repeat(receiver);
    const isByUser = firstDifference(own, again) === undefined && firstDifference(own, others) !== undefined;
    const field = deepestOn(path, this.#audit.resolverPaths(member.operation));
    this.#audit.report(isByUser ? 'differs_by_user' : 'differs_by_chance', member, {
      field: fieldOf([path]),
      path: field ?? path,
    });
  }

  async #repeat(listener: EventListener): Promise<string> {
    const { json } = await this.#event.repeat(listener);
    return `${Buffer.concat(json).toString()}}`;
  }
}

/** The member with its present facts, which may be replaced before the check. */
function listenerOf({ operation, variables, facts }: Subscription): EventListener {
  return { operation, variables, facts };
}

/** True if `b` has the values of `a` for all facts that the execution for `a` read; then both should have read the same. */
function agree(a: Example, b: Example): boolean {
  return readKey(a.readSet, a.facts) === readKey(a.readSet, b.facts);
}

/** The response key of the subscription field. */
function fieldOf([path]: readonly string[]): string | undefined {
  return path?.split('.', 1)[0];
}

/** The deepest of `paths` that leads to `path`, whose list indexes do not count. */
function deepestOn(path: string, paths: readonly string[]): string | undefined {
  const target = `${path.replaceAll(/\.\d+(?=\.|$)/g, '')}.`;
  return paths.filter((candidate) => target.startsWith(`${candidate}.`)).toSorted((a, b) => b.length - a.length)[0];
}
