/** Settings of a server, under the names of `src/config/config.ts` and as text, as in an environment. */
export type Settings = Readonly<Record<string, string>>;

/** A running server with the graph of fixtures/conformance. */
export interface Target {
  /** `ws://host:port/graphql` */
  readonly url: string;
  /** Drains and closes the server. Idempotent. */
  close(): Promise<void>;
}

/** A kind of server that the conformance table runs against. */
export interface TargetKind {
  readonly name: string;
  /** Rows that the server is known to fail, with the difference. Each must fail, and every other row must pass. */
  readonly deviations: ReadonlyMap<string, string>;
  start(settings: Settings): Promise<Target>;
}
