/**
 * A value of a result that the schema does not allow where it is: an error of the execution, not of a resolver. Its message, for the log,
 * names the field and the fix.
 */
export class UnfitResultError extends Error {
  override readonly name = 'UnfitResultError';
  /** What clients receive: names of the schema, and no value. */
  readonly kind: string;

  constructor(kind: string, problem: string) {
    super(problem);
    this.kind = kind;
  }
}

/** graphql-js throws it as a plain Error, so that a resolver's could read alike: it has two names, and no value. */
const NULL = /^Cannot return null for non-nullable field (\w+\.\w+)\.$/;

/** undefined: the error is of another kind. */
export function unfitResult(error: unknown): UnfitResultError | undefined {
  if (error instanceof UnfitResultError) return error;
  const message: unknown = error instanceof Error ? error.message : undefined;
  const [kind, field] = (typeof message === 'string' && NULL.exec(message)) || [];
  if (kind === undefined) return undefined;
  return new UnfitResultError(
    kind,
    `${field}: null, which its type does not allow; correct the record or the resolver, or make the type nullable`,
  );
}
