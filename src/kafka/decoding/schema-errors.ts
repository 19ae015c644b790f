import type { SchemaId } from './wire-format.ts';

/** The schema of a record cannot be had now: the registry is away, fails for it, or may not know it yet. The caller retries. */
export class SchemaUnavailableError extends Error {
  override readonly name = 'SchemaUnavailableError';
  readonly code = 'ERR_SCHEMA_UNAVAILABLE';
  readonly canRetry = true;
  /** Its id, if a record needs it. */
  readonly schema: SchemaId | undefined;
  /** True if the registry may still answer the request. */
  readonly isPending: boolean;

  constructor(message: string, schema?: SchemaId, { isPending = false } = {}) {
    super(message);
    this.schema = schema;
    this.isPending = isPending;
  }
}

/** The format that a graph brings could not be loaded. The caller retries. */
export class FormatUnavailableError extends SchemaUnavailableError {}

/** A schema that the registry has, and that cannot be used. No retry helps. */
export class UnusableSchemaError extends Error {
  override readonly name = 'UnusableSchemaError';
}

/** No registry is set up that could have a schema; the message says what is missing. */
export class MissingRegistryError extends Error {
  override readonly name = 'MissingRegistryError';
}

/** A schema is named in a way that the registry does not know. No retry helps. */
export class ForeignSchemaError extends Error {
  override readonly name = 'ForeignSchemaError';
}
