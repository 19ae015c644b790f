/** How much may be published for a partition now. */
export interface Room {
  /** Bytes of payloads, counted once for each channel. 0: a gateway that receives from the partition lags. */
  readonly bytes: number;
  /** The gateway that lags most; undefined: no gateway limits the partition. */
  readonly gateway: string | undefined;
}

/** No gateway limits the partition. */
export const UNLIMITED: Room = { bytes: Infinity, gateway: undefined };
