import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { describeMembers } from '../../src/kafka/client/group-members.ts';
import type { GroupMember } from '../../src/kafka/client/group-members.ts';
import { groupOf } from '../processes/consumer-group.ts';
import { startServer } from '../processes/server-process.ts';
import type { ServerOptions, ServerProcess } from '../processes/server-process.ts';
import type { Scope } from '../runner/scope.ts';
import type { Owners } from './step-figures.ts';

export interface WorkerGroupOptions {
  readonly brokers: string;
  readonly groupId: string;
  readonly topic: string;
  /** What its workers run. Their POD_NAME is their name. */
  readonly server: ServerOptions;
  readonly signal: AbortSignal;
}

/** `-` and a UUID, which kafkajs and brokers append to a client's id. */
const ID_LENGTH = 37;

/** The workers of one consumer group, each a process. */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #scope: Pick<Scope, 'after'>;
  readonly #workers = new Map<string, ServerProcess>();
  readonly #admin: Admin;

  constructor(options: WorkerGroupOptions, scope: Pick<Scope, 'after'>) {
    this.#options = options;
    this.#scope = scope;
    const kafka = new kafkajs.Kafka({ brokers: options.brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
    this.#admin = kafka.admin();
    scope.after(() => this.#admin.disconnect());
  }

  /** Resolves when the worker is a member of the stable group. */
  async join(name: string): Promise<void> {
    const { server } = this.#options;
    this.#options.signal.throwIfAborted();
    const environment = { ...server.environment, POD_NAME: name };
    this.#workers.set(name, await startServer({ ...server, isWorkerOnly: true, environment }, this.#scope));
    await this.#isStable();
  }

  /** Resolves when the worker has ended, and the group is stable without it. */
  async leave(name: string): Promise<void> {
    const worker = this.#workers.get(name)!;
    this.#workers.delete(name);
    await worker.stop();
    await this.#isStable();
  }

  async owners(): Promise<Owners> {
    await this.#admin.connect();
    const members = await describeMembers(this.#admin, this.#options.groupId);
    if (!members) throw new Error('the group rebalances');
    return new Map(
      members
        .flatMap((member) =>
          (member.assigned.get(this.#options.topic) ?? []).map((partition) => [partition, nameOf(member)] as const),
        )
        .sort(([a], [b]) => a - b),
    );
  }

  #isStable(): Promise<void> {
    const { brokers, groupId, signal } = this.#options;
    return groupOf(brokers, groupId, this.#workers.size, signal);
  }
}

function nameOf({ pod, memberId }: GroupMember): string {
  return pod ?? memberId.slice(0, -ID_LENGTH);
}
