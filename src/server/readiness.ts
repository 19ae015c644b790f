/** What `/readyz` says of a pod. */
export class Readiness {
  /** By name. */
  readonly details: Record<string, () => unknown> = {};
  readonly #reasons = new Map<string, () => boolean>();

  /** Makes `/readyz` return 503 and name the reason while `isTrue()`. */
  readonly unreadyWhile = (reason: string, isTrue: () => boolean): void => void this.#reasons.set(reason, isTrue);

  /** Why a pod that has started must not receive new connections; empty: it may. */
  readonly unreadyReasons = (): string[] =>
    [...this.#reasons].flatMap(([reason, isTrue]) => (isTrue() ? [reason] : []));

  /** The details as they are now. */
  readonly read = (): Record<string, unknown> =>
    Object.fromEntries(Object.entries(this.details).map(([name, read]) => [name, read()]));
}
