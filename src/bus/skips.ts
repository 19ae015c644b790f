/**
 * What a bus of several places skips while one of them is away: the messages of its channels. The others flow. A worker reads the skipped
 * records again once the place is back; where they were accepted, they are left out.
 */
export interface Skips {
  /** Offset of a leased partition's first record with a message that was skipped; undefined: none was. */
  from(topic: string, partition: number): number | undefined;
  /** True if the places of all skipped messages of the partition accept messages again. */
  canRetake(topic: string, partition: number): boolean;
  /** Up to where each place has accepted the records of a leased partition, as a text for the lease of its next owner. */
  positionsOf(topic: string, partition: number): string;
}
