/** Settings of a server, under the names of `src/config.ts` and as text, as in an environment. */
export type Settings = Readonly<Record<string, string>>;

/** A running server with the graph of fixtures/conformance. */
export interface Target {
  /** `ws://host:port/graphql` */
  readonly url: string;
  /** The server's orderly end. Idempotent. */
  close(): Promise<void>;
}

/** A server that the conformance table is run against. */
export interface TargetKind {
  readonly name: string;
  /** Whether `connection_init` with `{ "ack": … }` is acknowledged with that value as payload. */
  readonly hasAckPayload: boolean;
  /** Rows that it is known to fail, and how: each must fail, and every other row must pass. */
  readonly deviations: ReadonlyMap<string, string>;
  start(settings: Settings): Promise<Target>;
}
