import type { EventExtensions } from '@crier/client';

/** What the page tells its user about the connection. */
export interface ConnectionState {
  readonly isLive: boolean;
  /** After a reconnect: whether the subscriptions that have had an event since missed none. */
  readonly isComplete?: boolean;
}

let state: ConnectionState = { isLive: false };
const listeners = new Set<() => void>();

function change(next: ConnectionState): void {
  state = next;
  for (const listener of listeners) listener();
}

/** For useSyncExternalStore. */
export const connection = {
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  get: () => state,
};

/** The socket is open, or is lost. */
export function setLive(isLive: boolean): void {
  change({ isLive });
}

/** Reads what crier says of an event. Returns false if events before it may be missing. */
export function noteExtensions({ resumed, gap }: EventExtensions = {}): boolean {
  const isMissed = resumed === false || gap === true;
  if (isMissed) change({ ...state, isComplete: false });
  else if (resumed === true && state.isComplete === undefined) change({ ...state, isComplete: true });
  return !isMissed;
}
