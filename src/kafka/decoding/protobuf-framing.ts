import type { Decoder, FramedDecoding } from './decoder.ts';
import { startsWithRef } from './wire-format.ts';
import type { Framing } from './wire-format.ts';

/** The decoding of records of Protobuf that name their schema in one way. */
export function protobufDecoding({ bodyAt, message, mayHaveRef }: Framing, decoder: Decoder): FramedDecoding {
  if (message === undefined) return { bodyAt, decoder };
  const named = (body: Buffer) => (mayHaveRef && startsWithRef(body) ? body : Buffer.concat([message, body]));
  const { fields } = decoder;
  return {
    bodyAt,
    decoder: {
      fields,
      decode: (body) => decoder.decode(named(body)),
      decodeKey: (body) => decoder.decodeKey(named(body)),
    },
  };
}
