/** How much may be published for a partition now. */
export interface Room {
  /** Bytes of payloads, counted once for each channel. 0: a gateway that receives from the partition lags. */
  readonly bytes: number;
  /** The gateway that lags most; undefined: no gateway limits the partition. */
  readonly gateway: string | undefined;
  /** True while gateways that were subscribed before an outage of Redis are not subscribed again. */
  readonly areGatewaysMissing?: boolean;
}

/** No gateway limits the partition. */
export const UNLIMITED: Room = { bytes: Infinity, gateway: undefined };

export const GATEWAYS_MISSING: Room = { bytes: 0, gateway: undefined, areGatewaysMissing: true };
