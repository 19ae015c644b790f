import { isJsonObject } from '../../../base/json/json-object.ts';
import { withoutSchema } from './connect.ts';
import { notOfEnvelope } from './envelope.ts';
import type { Envelope } from './envelope.ts';
import { objectOfText } from './json-text.ts';

/** Events of Debezium's outbox router, whose payload is a JSON text unless `expand.json.payload` is set: https://debezium.io/documentation/reference/stable/transformations/outbox-event-router.html */
export const OUTBOX: Envelope = {
  read: (value) => {
    const event = withoutSchema(value);
    if (typeof event === 'string') return { row: objectOfText(event) };
    return isJsonObject(event) ? { row: event } : notOfEnvelope();
  },
};
