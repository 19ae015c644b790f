/** Largest difference of crier's cursors: an epoch of 11 digits, a partition of 7, an offset of 11 (base 36). */
const CURSOR_SLACK = 30;

/** Whether a message has the length of a result. An error would be hundreds of bytes shorter. */
export function isSize(bytes: number, resultBytes: number): boolean {
  return Math.abs(bytes - resultBytes) <= CURSOR_SLACK;
}
