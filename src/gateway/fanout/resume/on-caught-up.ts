/**
 * A client that catches up has every event so far.
 * @param cursor of the last one; undefined: none is known
 * @param notes what the client would be told with its next event
 * @param repeat calls back once more, when the client has every event so far
 */
export type OnCaughtUp = (cursor: string | undefined, notes: string | undefined, repeat: () => void) => void;
