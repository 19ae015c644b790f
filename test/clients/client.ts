/** A GraphQL client as an application has it, connected to one server. */
export interface Client {
  subscribe(query: string, variables: Readonly<Record<string, unknown>>): Subscription;
  close(): unknown;
}

/** What the client has told its application about a subscription. */
export interface Subscription {
  /** `data` of each result without errors. */
  readonly events: unknown[];
  /** Messages of GraphQL errors, and of whatever else ended the subscription. */
  readonly errors: string[];
  isComplete: boolean;
  stop(): void;
}

/** A subscription of which nothing has been told yet. */
export function untold(stop: () => void = () => undefined): Subscription {
  return { events: [], errors: [], isComplete: false, stop };
}

/** The messages of what a JavaScript client reports as an error: an error, several, or one that holds several. */
export function messagesOf(error: unknown): string[] {
  if (Array.isArray(error)) return error.flatMap(messagesOf);
  const {
    errors,
    graphQLErrors = errors,
    message,
  } = error as {
    readonly errors?: readonly unknown[];
    readonly graphQLErrors?: readonly unknown[];
    readonly message: string;
  };
  return graphQLErrors?.length ? graphQLErrors.flatMap(messagesOf) : [message];
}
