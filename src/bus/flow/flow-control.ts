import type { Receiver } from './receiver.ts';
import type { Sender } from './sender.ts';

/** Lets gateways set the pace of workers. */
export interface Flow {
  /** How far this process may publish ahead of its gateways; without a limit where flow control is off. */
  readonly sender: Sender;
  /**
   * Takes part in flow control as a gateway. The returned function ends that, and no worker waits for this process from then on; it is
   * idempotent.
   */
  receive(receiver: Receiver): () => void;
}
