/** 1,234,567 */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Bytes in millions. */
export function megabytes(bytes: number): string {
  return `${whole(bytes / 1e6)} MB`;
}

export function percent(value: number): string {
  return `${whole(value)} %`;
}

/** A ratio, with one decimal below 10. */
export function times(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(1) : whole(ratio)} ×`;
}
