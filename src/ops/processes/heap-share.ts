const NAME = '--max-old-space-size-percentage';
/** Node's flag for the heap as a percentage of the container's memory, with which the image runs; underscores mean the same. */
const PERCENTAGE = /--max[-_]old[-_]space[-_]size[-_]percentage["\s=]+([\d.]+)/g;

/**
 * Node's flags for one of several processes that share a container: a heap percentage is divided by the number of processes. The last flag
 * counts, and more than NODE_OPTIONS, which the processes inherit.
 */
export function heapShare(flags: readonly string[], nodeOptions: string, processes: number): string[] {
  const [, percentage] = [...[nodeOptions, ...flags].join(' ').matchAll(PERCENTAGE)].at(-1) ?? [];
  return percentage === undefined ? [...flags] : [...flags, `${NAME}=${Number(percentage) / processes}`];
}
