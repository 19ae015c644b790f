import type { ConnectorSettings } from '../../stack/connect.ts';

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';
const AVRO_CONVERTER = 'io.apicurio.registry.utils.converter.AvroConverter';
const CHANGED = 'public.markers,public.rows,public.keyed,public.pairs,public.texts,public.texts_full,public.types';

/** The row itself instead of its change, with `__op` and `__deleted`. */
export const FLATTENED: ConnectorSettings = {
  transforms: 'unwrap',
  'transforms.unwrap.type': 'io.debezium.transforms.ExtractNewRecordState',
  'transforms.unwrap.delete.tombstone.handling.mode': 'rewrite',
  'transforms.unwrap.add.fields': 'op,source.ts_ms,table,lsn',
};

export const EVENT_ROUTER: ConnectorSettings = {
  transforms: 'outbox',
  'transforms.outbox.type': 'io.debezium.transforms.outbox.EventRouter',
  'transforms.outbox.table.fields.additional.placement': 'type:header:eventType',
  'tombstones.on.delete': 'false',
};

/** What every connector needs to run here. It has no effect on its records. */
export function debezium(name: string, port: number): ConnectorSettings {
  return {
    'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
    'database.hostname': '127.0.0.1',
    'database.port': `${port}`,
    'database.user': 'postgres',
    'database.dbname': 'postgres',
    'plugin.name': 'pgoutput',
    'slot.name': name,
    'publication.name': name,
    'publication.autocreate.mode': 'filtered',
    'poll.interval.ms': '20',
    'topic.creation.default.replication.factor': '1',
    'topic.creation.default.partitions': '1',
  };
}

export function json(hasSchemas: boolean): ConnectorSettings {
  return {
    'key.converter': JSON_CONVERTER,
    'key.converter.schemas.enable': `${hasSchemas}`,
    'value.converter': JSON_CONVERTER,
    'value.converter.schemas.enable': `${hasSchemas}`,
  };
}

function avro(registry: string, more: ConnectorSettings): ConnectorSettings {
  const one = {
    converter: AVRO_CONVERTER,
    'converter.apicurio.registry.url': registry,
    'converter.apicurio.registry.auto-register': 'true',
    ...more,
  };
  const both = Object.entries(one).flatMap(([name, value]) => [
    [`key.${name}`, value],
    [`value.${name}`, value],
  ]);
  return { ...(Object.fromEntries(both) as ConnectorSettings), 'schema.name.adjustment.mode': 'avro' };
}

/** The recorded connectors by their name, which is the prefix of their topics, with the settings that decide what they write. */
export function recordedConnectors(registry: string): Readonly<Record<string, ConnectorSettings>> {
  return {
    plain: {
      'table.include.list': CHANGED,
      'skipped.operations': 'none',
      'provide.transaction.metadata': 'true',
      ...json(false),
    },
    schema: { 'table.include.list': CHANGED, 'skipped.operations': 'none', ...json(true) },
    // The times of Kafka Connect's own types.
    connect: { 'table.include.list': 'public.markers,public.types', 'time.precision.mode': 'connect', ...json(true) },
    // What a connector without schemas is told, so that its values can be read.
    texts: {
      'table.include.list': 'public.markers,public.types',
      'decimal.handling.mode': 'string',
      'time.precision.mode': 'isostring',
      'interval.handling.mode': 'string',
      ...json(false),
    },
    filled: { 'table.include.list': 'public.markers,public.strict,public.strict_full,public.indexed', ...json(false) },
    filled_flat: { 'table.include.list': 'public.markers,public.strict', ...FLATTENED, ...json(false) },
    flat: { 'table.include.list': CHANGED, 'skipped.operations': 'none', ...FLATTENED, ...json(false) },
    flat_schema: {
      'table.include.list': 'public.markers,public.rows',
      ...FLATTENED,
      'transforms.unwrap.delete.tombstone.handling.mode': 'rewrite-with-tombstone',
      'transforms.unwrap.add.fields': 'op',
      ...json(true),
    },
    outbox: outbox('false'),
    outbox_expanded: outbox('true'),
    avro: {
      'table.include.list': CHANGED,
      'skipped.operations': 'none',
      ...avro(registry, {
        'converter.apicurio.registry.headers.enabled': 'false',
        'converter.apicurio.registry.as-confluent': 'true',
        'converter.apicurio.registry.use-id': 'contentId',
      }),
    },
    avro_long: {
      'table.include.list': 'public.markers,public.rows',
      ...avro(registry, { 'converter.apicurio.registry.headers.enabled': 'false' }),
    },
    avro_headers: { 'table.include.list': 'public.markers,public.rows', ...avro(registry, {}) },
  };
}

function outbox(expands: string): ConnectorSettings {
  return {
    'table.include.list': 'public.events',
    ...EVENT_ROUTER,
    'transforms.outbox.table.expand.json.payload': expands,
    'transforms.outbox.route.topic.replacement': `outbox${expands === 'true' ? '_expanded' : ''}.\${routedByValue}`,
    ...json(false),
  };
}
