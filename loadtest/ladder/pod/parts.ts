/** What the rungs differ in. Each value is a way to do it that the talk's service had at some time. */
export interface Parts {
  /** 32 backends × 5 methods per context: all at once, or each at its first use. */
  readonly backends: 'eager' | 'lazy';
  /** 50 loaders and 50 primers per context: likewise. */
  readonly loaders: 'eager' | 'lazy';
  readonly snakeCase: 'chain' | 'iteration' | 'memoised' | 'in-place';
  /** Whether a record is converted for each delivery or once, before it is published. See README, "the ladder". */
  readonly convertsAt: 'delivery' | 'consumption';
  /** Parsed, validated and interpreted for each subscription; the same without locations; or cached and compiled. */
  readonly documents: 'with-locations' | 'without-locations' | 'compiled';
}

/** Parts as they travel in the environment of a pod. */
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
