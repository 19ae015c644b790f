/** A text that a process keeps for the others. */
export interface KeptText {
  readonly text: string;
  /** When it is forgotten, in ms since 1970; in the past: it is forgotten at once. */
  readonly untilMs: number;
}

/** Idempotent; after it returned the listener is not called again. */
export type StopListening = () => void;

/**
 * Messages between the processes of a bus that are no events: few, small, not fenced, and in one order for all processes. Names are
 * shared by all processes of the bus.
 */
export interface Control {
  /**
   * Sends a text to each process that listens to the name, this one included; at most once.
   * @throws BusUnavailableError
   */
  send(name: string, text: string): Promise<void>;
  /**
   * Resolves once each text that is sent from then on reaches the listener. A process has one listener for a name.
   * @param onGap called when texts may have been missed, and further ones arrive again
   * @throws BusUnavailableError
   */
  listen(name: string, onText: (text: string) => void, onGap: () => void): Promise<StopListening>;
  /**
   * Keeps texts under a name, also without this process, and sends those that were not kept before to the listeners of the name. A text
   * that is kept already gets the new end. Resolves with the number of texts that are not kept, because there are `max` others.
   * @throws BusUnavailableError; texts may have been kept: repeat the call.
   */
  keep(name: string, texts: readonly KeptText[], max: number): Promise<number>;
  /**
   * The texts that are kept under a name.
   * @throws BusUnavailableError
   */
  kept(name: string): Promise<string[]>;
}
