/** A partition of a topic. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Map key of a partition. */
export function partitionKey(topic: string, partition: number): string {
  return `${partition}/${topic}`;
}
