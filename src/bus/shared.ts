import type { Lock, LockRequest } from './lock.ts';
import type { Control } from './control.ts';

/** What the processes of a bus have together beside events. */
export interface Shared {
  /**
   * Returns a value on which all processes of the bus agree: the first proposal, for as long as the bus keeps it.
   * @throws BusUnavailableError
   */
  agree(name: string, proposal: string): Promise<string>;
  /**
   * Locks a name for a holder, or keeps its lock, and returns the lock that is valid now: of this holder, or of another one.
   * @throws BusUnavailableError
   */
  lock(name: string, request: LockRequest): Promise<Lock>;
  /**
   * Gives up this process's part of a lock: the last process of its holder releases it. The lock of another holder stays.
   * @throws BusUnavailableError
   */
  unlock(name: string, request: Omit<LockRequest, 'ttlMs'>): Promise<void>;
  /**
   * The lock of a name; undefined: there is none.
   * @throws BusUnavailableError
   */
  lockOf(name: string): Promise<Lock | undefined>;
  /** Messages between the processes that are no events. */
  readonly control: Control;
  /**
   * Sends a text on a plain channel; at most once. Resolves once the server has accepted it.
   * @throws BusUnavailableError
   */
  send(channel: string, text: string): Promise<void>;
}
