/** A record as Kafka has it. */
export interface KafkaRecord {
  readonly topic: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
}

/** Key, value and headers as a recording has them. Debezium's headers that name the connector and its run are left out. @param encoding of keys and values */
export function recordedParts(
  { key, value, headers }: Omit<KafkaRecord, 'topic'>,
  encoding: 'utf8' | 'base64',
): object {
  const text = (bytes: Buffer | null) => bytes && bytes.toString(encoding);
  const kept = Object.entries(headers)
    .filter(([header]) => !header.startsWith('__debezium.context.'))
    .map(([header, bytes]) => {
      const latin = bytes.toString('latin1');
      return [header, /^[ -~]*$/.test(latin) ? latin : { base64: bytes.toString('base64') }] as const;
    });
  return {
    key: text(key),
    value: text(value),
    ...(kept.length > 0 && { headers: Object.fromEntries(kept) as Record<string, unknown> }),
  };
}
