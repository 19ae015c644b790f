/**
 * Why a token is not accepted, as a metric label. `keys_unavailable`: the token may be valid, its key could not be fetched. `other_subject`:
 * it is valid, but the connection that it should refresh has another subject, or none.
 */
export type TokenRefusal =
  'token_missing' | 'token_expired' | 'token_invalid' | 'token_revoked' | 'keys_unavailable' | 'other_subject';

/** A token is not accepted. The message is for the log: it has no part of the token. */
export class TokenProblem extends Error {
  override readonly name = 'TokenProblem';
  readonly refusal: TokenRefusal;
  /** Whom the token names, if its signature is valid. */
  readonly subject: string | undefined;

  constructor(
    refusal: TokenRefusal,
    message: string,
    options?: ErrorOptions & { readonly subject?: string | undefined },
  ) {
    super(message, options);
    this.refusal = refusal;
    this.subject = options?.subject;
  }

  /** One of few texts for what is wrong: a message of jose may quote a header of the token. */
  get kind(): string {
    const { code, claim } = (this.cause ?? {}) as { readonly code?: string; readonly claim?: string };
    return code === undefined ? this.message : `${code} ${claim ?? ''}`;
  }
}
