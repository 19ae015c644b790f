/** The differences between the rungs. The talk's service used each value at some time. */
export interface Parts {
  /** Whether the 32 × 5 backend methods of a context are created at once or at their first use. */
  readonly backends: 'eager' | 'lazy';
  /** Whether the 50 loaders and 50 primers of a context are created at once or at their first use. */
  readonly loaders: 'eager' | 'lazy';
  readonly snakeCase: 'chain' | 'iteration' | 'memoised' | 'in-place';
  /** Whether a record is converted for each delivery or once, before it is published. */
  readonly convertsAt: 'delivery' | 'consumption';
  /** Documents are parsed and validated for each subscription, with or without locations, or are cached and compiled. */
  readonly documents: 'with-locations' | 'without-locations' | 'compiled';
}

/** Environment variables that carry the parts to a pod. */
export function partsToEnvironment(parts: Parts): Readonly<Record<string, string>> {
  return { LADDER_PARTS: JSON.stringify(parts) };
}

/** @throws Error when the variable is not set. */
export function partsFromEnvironment(environment: NodeJS.ProcessEnv): Parts {
  const text = environment['LADDER_PARTS'];
  if (text === undefined)
    throw new Error('LADDER_PARTS is not set: this pod is started by npm run loadtest -- --ladder');
  return JSON.parse(text) as Parts;
}
