import type { RawBroker } from './raw-cluster.ts';

const METADATA = 3;
/** The oldest version of Metadata that has ids. kafkajs speaks version 6 at most. */
const VERSION = 10;
const NO_ID = 'AAAAAAAAAAAAAAAAAAAAAA';

/**
 * Asks a broker for the ids of topics. A topic that is deleted and created again has another one. Omits topics that the broker does not
 * know. Empty if the broker is older than Kafka 2.8.
 * @returns ids by topic, as Kafka's tools write them
 */
export async function topicIds(broker: RawBroker, topics: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (topics.length === 0 || (broker.versions?.[METADATA]?.maxVersion ?? 0) < VERSION) return new Map();
  const buf = metadataRequest(topics);
  return broker.connectionPool.send({
    request: {
      apiKey: METADATA,
      apiVersion: VERSION,
      apiName: 'Metadata',
      encode: () => Promise.resolve({ buf, buffer: buf }),
    },
    response: { decode: (bytes) => Promise.resolve(idsIn(bytes)), parse: (ids) => Promise.resolve(ids) },
  });
}

/** Begins with the end of the request's header: no tagged fields. https://kafka.apache.org/41/design/protocol/#The_Messages_Metadata */
function metadataRequest(topics: readonly string[]): Buffer {
  const list = topics.map((topic) => {
    const name = Buffer.from(topic);
    return Buffer.concat([Buffer.alloc(16), varint(name.length + 1), name, varint(0)]);
  });
  // The flags create no topics, and ask for no rights.
  return Buffer.concat([varint(0), varint(list.length + 1), ...list, Buffer.alloc(3), varint(0)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return Buffer.from([...bytes, value]);
}

/** Reads a response of version 10. */
function idsIn(bytes: Buffer): ReadonlyMap<string, string> {
  let at = 0;
  const skip = (length: number) => (at += length);
  const part = (length: number) => bytes.subarray(at, skip(length));
  const unsigned = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) throw new RangeError('a reply to Metadata ends early');
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  /** A null string or array has the length -1. */
  const length = () => unsigned() - 1;
  const text = () => part(Math.max(0, length())).toString();
  const each = (read: () => void) => {
    for (let left = length(); left > 0; left--) read();
  };
  const tags = () => {
    for (let left = unsigned(); left > 0; left--) {
      unsigned();
      skip(unsigned());
    }
  };
  const broker = () => {
    skip(4);
    text();
    skip(4);
    text();
    tags();
  };
  const partition = () => {
    skip(2 + 3 * 4);
    for (let lists = 0; lists < 3; lists++) each(() => skip(4));
    tags();
  };
  const ids = new Map<string, string>();
  const topic = () => {
    skip(2);
    const name = text();
    const id = part(16).toString('base64url');
    if (id !== NO_ID) ids.set(name, id);
    skip(1);
    each(partition);
    skip(4);
    tags();
  };
  tags();
  skip(4);
  each(broker);
  text();
  skip(4);
  each(topic);
  return ids;
}
