/** How much may be published for a partition now. */
export interface Room {
  /** Of payloads, once for each channel. 0: the gateways that receive from the partition are behind. */
  readonly bytes: number;
  /** Names the gateway that is furthest behind; undefined: nobody limits the partition. */
  readonly gateway: string | undefined;
}

/** Nobody limits the partition. */
export const UNLIMITED: Room = { bytes: Infinity, gateway: undefined };
