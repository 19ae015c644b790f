/** An error and its causes, from the outermost on. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let one = error; one instanceof Error; one = one.cause) yield one;
}

/** True if the error, or one of its causes, has one of Kafka's names of errors, which kafkajs calls `type`. */
export function hasType(error: unknown, types: ReadonlySet<string>): boolean {
  for (const one of causesOf(error)) if ('type' in one && types.has(one.type as string)) return true;
  return false;
}

/** `host:port` of the broker to which a connection has failed; undefined: the error names none. */
export function brokerOf(error: unknown): string | undefined {
  for (const one of causesOf(error)) if ('broker' in one && typeof one.broker === 'string') return one.broker;
  return undefined;
}
