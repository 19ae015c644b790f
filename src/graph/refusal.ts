import { GraphQLError } from 'graphql';
import type { GraphQLFormattedError } from 'graphql';

/** An error that is formatted already. graphql-http takes only GraphQLErrors. */
export class FormattedError extends GraphQLError {
  readonly #formatted: GraphQLFormattedError;

  constructor(formatted: GraphQLFormattedError) {
    super(formatted.message, { extensions: formatted.extensions ?? {} });
    this.#formatted = formatted;
  }

  override toJSON(): GraphQLFormattedError {
    return this.#formatted;
  }
}

/** Why a request is not served. */
export interface Refusal {
  readonly errors: readonly FormattedError[];
}

export function refused(errors: readonly GraphQLFormattedError[]): Refusal {
  return { errors: errors.map((error) => new FormattedError(error)) };
}
