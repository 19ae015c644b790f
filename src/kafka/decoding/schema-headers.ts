import type { RecordHeaders } from '../batch.ts';
import { UndecodableError } from './decoder.ts';
import type { RecordPart } from './decoder.ts';
import { FIRST_MESSAGE, refTo, schemaIdOf, uuidOf } from './wire-format.ts';
import type { Framing } from './wire-format.ts';

/** Names of the headers in which serializers name the schema of a key or a value, which then has no header of its own. */
export interface SchemaHeaderNames {
  /** Of Confluent's HeaderSchemaIdSerializer. */
  readonly guid: string;
  readonly globalId: string;
  readonly contentId: string;
  /** The name of the Protobuf message, of Apicurio. */
  readonly message: string;
}

export const SCHEMA_HEADERS: Readonly<Record<RecordPart, SchemaHeaderNames>> = {
  key: {
    guid: '__key_schema_id',
    globalId: 'apicurio.key.globalId',
    contentId: 'apicurio.key.contentId',
    message: 'apicurio.protobuf.type.key',
  },
  value: {
    guid: '__value_schema_id',
    globalId: 'apicurio.value.globalId',
    contentId: 'apicurio.value.contentId',
    message: 'apicurio.protobuf.type',
  },
};

const GUID_VERSION = 1;
/** With the version. */
const GUID_BYTES = 17;
const ID_BYTES = 5;
const APICURIO_ID_BYTES = 8;

/**
 * The schema that headers name; undefined: they name none. Of a header that a record has several times the last one counts, as for the clients of
 * Confluent and Apicurio.
 * @throws UndecodableError if a header cannot be read
 */
export function framingIn(headers: RecordHeaders, names: SchemaHeaderNames): Framing | undefined {
  const guid = headers[names.guid];
  if (guid !== undefined) return guidFraming(bytesOf(guid));
  const globalId = headers[names.globalId];
  if (globalId !== undefined) return apicurioFraming('globalIds', globalId, headers[names.message]);
  const contentId = headers[names.contentId];
  if (contentId !== undefined) return apicurioFraming('contentIds', contentId, headers[names.message]);
  return undefined;
}

/** True if headers name a schema. */
export function nameSchema(
  headers: RecordHeaders | undefined,
  { guid, globalId, contentId }: SchemaHeaderNames,
): boolean {
  if (headers === undefined) return false;
  return headers[guid] !== undefined || headers[globalId] !== undefined || headers[contentId] !== undefined;
}

type Header = NonNullable<RecordHeaders[string]>;

/** 1 and a GUID, or 0 and an id; of Protobuf, the indexes of the message follow. */
function guidFraming(header: Buffer): Framing {
  const id = schemaIdOf(header);
  const isGuid = header[0] === GUID_VERSION && header.length >= GUID_BYTES;
  if (id === undefined && !isGuid) throw new UndecodableError('no_schema_id');
  const schema = id ?? (`guids/${uuidOf(header, 1)}` as const);
  const indexes = header.subarray(id === undefined ? GUID_BYTES : ID_BYTES);
  const message = indexes.length > 0 ? Buffer.from(indexes) : FIRST_MESSAGE;
  return { key: `header/${schema}/${message.toString('hex')}`, schema, bodyAt: 0, message };
}

function apicurioFraming(kind: 'globalIds' | 'contentIds', header: Header, name: Header | undefined): Framing {
  const bytes = bytesOf(header);
  const id = bytes.length === APICURIO_ID_BYTES ? Number(bytes.readBigInt64BE()) : 0;
  if (!(id > 0 && Number.isSafeInteger(id))) throw new UndecodableError('no_schema_id');
  const message = (name !== undefined && refTo(bytesOf(name))) || FIRST_MESSAGE;
  const schema = `${kind}/${id}` as const;
  return { key: `header/${schema}/${message.toString('hex')}`, schema, bodyAt: 0, message, mayHaveRef: true };
}

function bytesOf(header: Header): Buffer {
  const last = Array.isArray(header) ? header.at(-1) : header;
  return Buffer.isBuffer(last) ? last : Buffer.from(last ?? '');
}
