/** Map key of a partition. */
export function partitionKey(topic: string, partition: number): string {
  return `${partition}/${topic}`;
}
