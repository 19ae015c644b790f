import type { Buffer } from 'node:buffer';

/** One partition of a fetch response, in the shape that kafkajs expects. */
export interface FetchedPartition<Records> {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly lastStableOffset: string;
  readonly lastStartOffset?: string;
  readonly abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[];
  readonly preferredReadReplica?: number;
  readonly messages: Records;
}

export interface FetchedTopic<Records> {
  readonly topicName: string;
  readonly partitions: readonly FetchedPartition<Records>[];
}

export interface FetchResponse<Records> {
  readonly throttleTime: number;
  readonly clientSideThrottleTime?: number;
  readonly errorCode?: number;
  readonly sessionId?: number;
  readonly responses: readonly FetchedTopic<Records>[];
}

/** Older versions have another record format. */
export const MIN_FETCH_VERSION = 4;

/**
 * Reads a fetch response of version 4 to 11, without decoding the records of its partitions.
 * https://kafka.apache.org/41/design/protocol/#The_Messages_Fetch
 */
export function readFetchResponse(bytes: Buffer, version: number): FetchResponse<Buffer> {
  let at = 0;
  const int16 = () => bytes.readInt16BE((at += 2) - 2);
  const int32 = () => bytes.readInt32BE((at += 4) - 4);
  const int64 = () => `${bytes.readBigInt64BE((at += 8) - 8)}`;
  const part = (length: number) => bytes.subarray(at, (at += Math.max(0, length)));
  const array = <Item>(read: () => Item): Item[] => {
    const items: Item[] = [];
    for (let count = int32(); count > 0; count--) items.push(read());
    return items;
  };
  const partition = () => ({
    partition: int32(),
    errorCode: int16(),
    highWatermark: int64(),
    lastStableOffset: int64(),
    ...(version >= 5 && { lastStartOffset: int64() }),
    abortedTransactions: array(() => ({ producerId: int64(), firstOffset: int64() })),
    ...(version >= 11 && { preferredReadReplica: int32() }),
    messages: part(int32()),
  });
  const throttleMs = int32();
  return {
    // Since version 8 the client applies the throttle, not the broker.
    ...(version >= 8 ? { throttleTime: 0, clientSideThrottleTime: throttleMs } : { throttleTime: throttleMs }),
    ...(version >= 7 && { errorCode: int16(), sessionId: int32() }),
    responses: array(() => ({ topicName: part(int16()).toString('utf8'), partitions: array(partition) })),
  };
}
