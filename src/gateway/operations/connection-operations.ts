import { OperationTypeNode } from 'graphql';
import type { SubscribeMessage } from 'graphql-ws';
import type { ConnectionFacts } from '../../graph/context/connection-facts.ts';
import { clientError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { MessageOutbox } from '../fanout/outbox/outbox.ts';
import { DocumentLane } from '../../graph/documents/document-queue.ts';
import type { ConnectionLimits } from '../connections/connection-limits.ts';
import { fits } from './held-bytes.ts';
import { LiveOperation } from './live-operation.ts';
import type { LiveOperationServices } from './live-operation-services.ts';
import type { LiveOperationOwner } from './live-operation.ts';
import { wholeSeconds } from '../connections/whole-seconds.ts';

export interface ConnectionOperationsOwner {
  readonly id: string | undefined;
  readonly limits: ConnectionLimits;
  readonly isRouter: boolean;
  /** An operation has sent its last message, or its client has completed it. */
  onOperationOver(): void;
}

/** Operations of one connection that are authorised again in one turn of the event loop. */
const AUTHORISED_PER_TURN = 10;

/** The live operations of one connection, by id, within its limits. */
export class ConnectionOperations implements LiveOperationOwner {
  readonly outbox: MessageOutbox;
  readonly #services: LiveOperationServices;
  readonly #owner: ConnectionOperationsOwner;
  readonly #live = new Map<string, LiveOperation>();
  /** Operations that wait to be authorised again; undefined: none. */
  #held: Set<LiveOperation> | undefined;
  #documentLane: DocumentLane | undefined;
  #served = 0;
  #starting = 0;
  #endedAtSeconds = 0;
  /** Sum of `countedBytes` of the live ones. */
  #countedBytes = 0;

  constructor(outbox: MessageOutbox, services: LiveOperationServices, owner: ConnectionOperationsOwner) {
    this.outbox = outbox;
    this.#services = services;
    this.#owner = owner;
  }

  /** Live now. */
  get size(): number {
    return this.#live.size;
  }

  /** Accepted since the connection opened. */
  get served(): number {
    return this.#served;
  }

  /** That are being prepared, authorised and subscribed. */
  get startingCount(): number {
    return this.#starting;
  }

  /** When the last one ended, in whole seconds of performance.now(); 0: none has. */
  get endedAtSeconds(): number {
    return this.#endedAtSeconds;
  }

  [Symbol.iterator](): Iterator<LiveOperation> {
    return this.#live.values();
  }

  has(id: string): boolean {
    return this.#live.has(id);
  }

  get limits(): ConnectionLimits {
    return this.#owner.limits;
  }

  get isRouter(): boolean {
    return this.#owner.isRouter;
  }

  /** Adds up what they keep, where the sum has no room only: a router has thousands. */
  isWithinHeldBytes(): boolean {
    const { maxHeldBytes } = this.limits;
    return this.#countedBytes <= maxHeldBytes || fits(this, maxHeldBytes);
  }

  /** Takes note of what the operation keeps now. */
  count(operation: LiveOperation): void {
    if (this.#live.get(operation.id) !== operation) return;
    const bytes = operation.heldBytes + (operation.operation?.documentBytes ?? 0);
    this.#countedBytes += bytes - operation.countedBytes;
    operation.countedBytes = bytes;
  }

  /** Bytes that they keep beside their documents, which others may use. */
  get heldBytes(): number {
    let bytes = 0;
    for (const operation of this.#live.values()) bytes += operation.heldBytes;
    return bytes;
  }

  /** True if a mutation has begun and is not answered: it may have changed something. */
  get hasMutations(): boolean {
    for (const { operation } of this.#live.values()) if (operation?.type === OperationTypeNode.MUTATION) return true;
    return false;
  }

  get connectionId(): string | undefined {
    return this.#owner.id;
  }

  get hasWaitingDocuments(): boolean {
    return this.#documentLane?.isEmpty === false;
  }

  get documentLane(): DocumentLane {
    this.#documentLane ??= new DocumentLane();
    // Another token may have changed it.
    this.#documentLane.parts = this.limits.documentShare;
    return this.#documentLane;
  }

  /**
   * Starts the operation of a message whose id is free. Resolves when it is live or has ended.
   * @param refresh while the connection's token is refreshed: the operation is authorised afterwards
   */
  async start({ id, payload }: SubscribeMessage, facts: ConnectionFacts, refresh?: Promise<void>): Promise<void> {
    const { maxOperations } = this.limits;
    if (this.#live.size >= maxOperations) {
      return this.refuse(id, `A connection may have ${maxOperations} operations at once; complete one first`);
    }
    const operation = new LiveOperation(id, this, this.#services);
    this.#live.set(id, operation);
    this.#served++;
    this.#starting++;
    try {
      await operation.start(payload, facts, refresh);
    } catch (error) {
      this.#services.onFailure('operation', error, facts.id);
      operation.fail([clientError('INTERNAL_SERVER_ERROR', 'Internal server error')]);
    } finally {
      this.#starting--;
    }
  }

  /** Answers a `subscribe` message with an error: a limit is reached, by default that of operations. */
  refuse(id: string, message: string, code: ErrorCode = 'OPERATION_LIMIT', retryAfterMs?: number): void {
    new LiveOperation(id, this, this.#services).refuse(message, code, retryAfterMs);
  }

  /** The connection has another token that grants the same. */
  replaceFacts(facts: ConnectionFacts): void {
    for (const operation of this.#live.values()) operation.replaceFacts(facts);
  }

  /** The connection has other claims. Its operations send no results until they are authorised again, some in each turn of the event loop. */
  renew(facts: ConnectionFacts): void {
    const isAuthorising = this.#held !== undefined;
    const held = (this.#held ??= new Set());
    for (const operation of this.#live.values()) if (operation.hold(facts)) held.add(operation);
    if (!isAuthorising) this.#authoriseHeld(held);
  }

  #authoriseHeld(held: Set<LiveOperation>): void {
    for (const operation of [...held].slice(0, AUTHORISED_PER_TURN)) {
      held.delete(operation);
      void operation.authoriseAgain();
    }
    if (held.size === 0) this.#held = undefined;
    else setImmediate(() => this.#authoriseHeld(held));
  }

  /** Ends an operation that its client completed. Returns false if the id is unknown. */
  complete(id: string): boolean {
    const operation = this.#live.get(id);
    operation?.end();
    this.#delete(id);
    return operation !== undefined;
  }

  onOver(operation: LiveOperation): void {
    if (this.#live.get(operation.id) === operation) this.#delete(operation.id);
  }

  /** Sends the events that wait for the paces of their fields, then calls back: at once if none needs an execution. */
  sendWaiting(onSent: () => void): void {
    let waiting = 1;
    const onOne = () => void (--waiting === 0 && onSent());
    for (const operation of this.#live.values()) if (operation.sendWaiting(onOne)) waiting++;
    onOne();
  }

  /** Ends all of them without a message. */
  end(): void {
    for (const operation of this.#live.values()) operation.end();
    this.#live.clear();
    this.#countedBytes = 0;
    this.#held?.clear();
  }

  #delete(id: string): void {
    const operation = this.#live.get(id);
    if (!operation) return;
    this.#live.delete(id);
    this.#countedBytes -= operation.countedBytes;
    this.#endedAtSeconds = wholeSeconds();
    this.#owner.onOperationOver();
  }
}
