/** Node's flag for the heap as a percentage of the container's memory, with which the image runs; underscores mean the same. */
const PERCENTAGE = /^(--max[-_]old[-_]space[-_]size[-_]percentage)=(\d+(?:\.\d+)?)$/;

/** Node's flags for one of several processes that share a container: a heap percentage is divided by the number of processes. */
export function heapShare(flags: readonly string[], processes: number): string[] {
  return flags.map((flag) => {
    const [, name, percentage] = PERCENTAGE.exec(flag) ?? [];
    return name === undefined ? flag : `${name}=${Math.max(1, Math.floor(Number(percentage) / processes))}`;
  });
}
