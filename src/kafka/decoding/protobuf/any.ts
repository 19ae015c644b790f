import type { SchemaPlace } from '../schema-place.ts';
import type { BodyOf, ReadBody } from './message-body.ts';
import { skipField } from './proto-scalars.ts';

/** Of `{"@type":"","value":""}`. */
const MIN_WIDTH = 24;

/** google.protobuf.Any: the message with its type's name; in base64 if the schema does not have it. A field `type` wins over `@type`. */
export function anyBody(place: SchemaPlace, bodyOf: BodyOf): ReadBody {
  const typeKey = place.nameOf('@type');
  return (bytes, levels) => {
    bytes.enter(levels, MIN_WIDTH);
    let url = '';
    let start = bytes.at;
    let length = 0;
    while (bytes.at < bytes.end) {
      const tag = bytes.uint32();
      if (tag === 10) url = bytes.text(bytes.uint32());
      else if (tag === 18) start = bytes.skip((length = bytes.uint32()));
      else skipField(bytes, tag, levels);
    }
    const { end } = bytes;
    const body = bodyOf(url.slice(url.lastIndexOf('/') + 1));
    bytes.at = start;
    bytes.end = start + length;
    const value = body ? body.read(bytes, body.isWellKnown ? levels - 1 : levels) : bytes.base64(length);
    bytes.at = bytes.end = end;
    return body && !body.isWellKnown ? { [typeKey]: url, ...(value as object) } : { [typeKey]: url, value };
  };
}
