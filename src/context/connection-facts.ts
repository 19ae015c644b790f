/** What a graph's `authenticate` made of a connection: plain JSON data, frozen. */
export type Claims = Readonly<Record<string, unknown>>;

/** Everything that may differ between two connections. Frozen; read by executions only through `ExecutionContext.connection`. */
export interface ConnectionFacts {
  readonly id: string;
  /** Of the upgrade (or HTTP) request; lower-case names, repeated ones joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Payload of `connection_init`; `{}` where there was none. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly claims: Claims;
  /** IP address of the peer. */
  readonly address: string;
}
