/** Shows how applications use each client. */
export const CLIENTS_PAGE = 'docs/reference/clients.md';

/** A GraphQL client as an application has it, connected to one server. */
export interface Client {
  subscribe(query: string, variables: Readonly<Record<string, unknown>>): Subscription;
  close(): unknown;
}

/** How a client reaches a server that wants more than an address. */
export interface Access {
  /** A file with the token of the next connection. */
  readonly tokenFile: string;
  /** Of the page of a browser, whose origin the server allows. */
  readonly pagePort: number;
}

/** Starts a client of an endpoint, whose address begins with `http`. */
export type StartClient = (url: string, access?: Access) => Client;

/** What the client has told its application about a subscription. */
export interface Subscription {
  /** `data` of each result without errors. */
  readonly events: unknown[];
  /** Messages of GraphQL errors, and of whatever else ended the subscription. */
  readonly errors: string[];
  isComplete: boolean;
  readonly stop: () => void;
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
