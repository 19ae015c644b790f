import type { StreamClient } from './stream-client.ts';

const BOUNDARY = /^multipart\/mixed; boundary="([0-9a-f]{24})"; subscriptionSpec=1.0$/;

export function boundaryOf({ headers }: StreamClient): string {
  return BOUNDARY.exec(headers['content-type']!)![1]!;
}

/** The content of each part that has ended, for a client that takes the boundary for one wherever it stands. */
export function partsOf(stream: StreamClient): unknown[] {
  return stream.text
    .split(`--${boundaryOf(stream)}`)
    .slice(1, -1)
    .map((part) => JSON.parse(part.split('\r\n\r\n')[1]!) as unknown);
}
