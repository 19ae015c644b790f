import type { Claim, ClaimRequest } from './claim.ts';
import type { Control } from './control.ts';

/** What the processes of a bus have together beside events. */
export interface Shared {
  /**
   * Returns a value on which all processes of the bus agree: the first proposal, for as long as the bus keeps it.
   * @throws BusUnavailableError
   */
  agree(name: string, proposal: string): Promise<string>;
  /**
   * Claims a name for a holder, or keeps its claim, and returns the claim that is valid now: of this holder, or of another one.
   * @throws BusUnavailableError
   */
  claim(name: string, request: ClaimRequest): Promise<Claim>;
  /**
   * The claim of a name; undefined: there is none.
   * @throws BusUnavailableError
   */
  claimOf(name: string): Promise<Claim | undefined>;
  /** Messages between the processes that are no events. */
  readonly control: Control;
  /**
   * Sends a text on a plain channel; at most once. Resolves once the server has accepted it.
   * @throws BusUnavailableError
   */
  send(channel: string, text: string): Promise<void>;
}
