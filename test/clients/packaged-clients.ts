import { OwnPackages } from '../support/own-packages.ts';
import { messagesOf, untold } from './client.ts';
import type { StartClient } from './client.ts';
import { fetchWith } from './javascript-clients.ts';

/** What this file uses of two packages, which are not installed where this file is compiled. */
interface EventSource {
  readonly readyState: number;
  onerror: (error: { readonly message?: string }) => void;
  addEventListener(type: string, listener: (event: { readonly data: string }) => void): void;
  close(): void;
}
interface EventSourceModule {
  readonly EventSource: new (url: string, options: { readonly fetch: typeof fetch }) => EventSource;
}
interface GraphqlRequestModule {
  readonly request: (url: string, query: string) => Promise<unknown>;
}

const CLOSED = 2;
const packages = new OwnPackages('test', 'clients', 'fixtures', 'javascript');

/** The npm package `eventsource`, which has the interface of browsers. */
export async function installEventSource(): Promise<StartClient> {
  packages.install();
  const { EventSource } = await packages.import<EventSourceModule>('eventsource');
  return (url, access) => {
    const sources: EventSource[] = [];
    return {
      subscribe: (query, variables) => {
        const of = untold(() => source.close());
        const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) });
        const source = new EventSource(`${url}?${parameters.toString()}`, {
          fetch: fetchWith(access, { 'apollo-require-preflight': 'true' }),
        });
        sources.push(source);
        source.addEventListener('next', ({ data }) => {
          const result = JSON.parse(data) as { readonly data?: unknown; readonly errors?: unknown };
          if (result.errors) of.errors.push(...messagesOf(result.errors));
          else of.events.push(result.data);
        });
        source.addEventListener('complete', () => {
          of.isComplete = true;
          source.close();
        });
        source.onerror = ({ message = 'closed' }) => {
          if (source.readyState === CLOSED) of.errors.push(message);
        };
        return of;
      },
      close: () => {
        for (const source of sources) source.close();
      },
    };
  };
}

/** graphql-request, which has no subscriptions: `subscribe` sends one request. */
export async function installGraphqlRequest(): Promise<StartClient> {
  packages.install();
  const { request } = await packages.import<GraphqlRequestModule>('graphql-request');
  return (url) => ({
    subscribe: (query) => {
      const of = untold();
      request(url, query).then(
        (data) => void of.events.push(data),
        (error: { readonly response: unknown }) => void of.errors.push(...messagesOf(error.response)),
      );
      return of;
    },
    close: () => undefined,
  });
}
