import assert from 'node:assert/strict';
import type { StreamClient } from './stream-client.ts';

const BOUNDARY = /^multipart\/mixed; boundary=([0-9a-f]{24}|graphql); subscriptionSpec=1.0$/;
/** A part names its length, for clients that would otherwise read one part ahead. */
const PART = /^\r\ncontent-type: application\/json\r\ncontent-length: (\d+)\r\n\r\n(.*)\r\n$/;

export function boundaryOf({ headers }: StreamClient): string {
  return BOUNDARY.exec(headers['content-type']!)![1]!;
}

/** The content of each part that has ended, for a client that takes the boundary for one wherever it stands. */
export function partsOf(stream: StreamClient): unknown[] {
  return stream.text
    .split(`--${boundaryOf(stream)}`)
    .slice(1, -1)
    .map((part) => {
      const [, length, json] = PART.exec(part)!;
      assert.equal(Number(length), Buffer.byteLength(json!));
      return JSON.parse(json!) as unknown;
    });
}
