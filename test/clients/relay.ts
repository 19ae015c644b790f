import { OwnPackages } from '../support/own-packages.ts';
import { messagesOf, untold } from './client.ts';
import { webSocketClient } from './javascript-clients.ts';
import type { StartClient } from './javascript-clients.ts';

/** A subscription that Relay's compiler wrote. */
interface Compiled {
  readonly params: { readonly name: string; readonly text: string };
}

type Sink = Parameters<ReturnType<typeof webSocketClient>['subscribe']>[1];

/** What this file uses of relay-runtime, which is not installed where this file is compiled. */
interface Relay {
  readonly Environment: new (options: object) => object;
  readonly Network: {
    create(fetch: () => never, subscribe: (params: Compiled['params'], variables: object) => object): object;
  };
  readonly Observable: { create(source: (sink: Sink) => () => void): object };
  readonly RecordSource: new () => object;
  readonly Store: new (source: object) => object;
  requestSubscription(
    environment: object,
    config: {
      readonly subscription: Compiled;
      readonly variables: object;
      readonly onNext: (data: unknown) => void;
      readonly onError: (error: unknown) => void;
      readonly onCompleted: () => void;
    },
  ): { dispose(): void };
}

const packages = new OwnPackages('test', 'clients', 'fixtures', 'relay');

/** Installs Relay; returns a client whose network layer is graphql-ws. It knows the subscription of the fixture. */
export async function installRelay(): Promise<StartClient> {
  packages.install();
  const { default: relay } = await packages.import<{ default: Relay }>('relay-runtime');
  const { default: compiled } = await packages.import<{ default: Compiled }>('./ordersSubscription.graphql.js');
  return (url) => {
    const client = webSocketClient(url);
    const network = relay.Network.create(
      () => {
        throw new Error('no queries');
      },
      ({ name, text }, variables) =>
        relay.Observable.create((sink) =>
          client.subscribe({ operationName: name, query: text, variables: { ...variables } }, sink),
        ),
    );
    const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
    return {
      subscribe: (text, variables) => {
        const of = untold(() => subscription.dispose());
        const subscription = relay.requestSubscription(environment, {
          subscription: { ...compiled, params: { ...compiled.params, text } },
          variables,
          onNext: (data) => void of.events.push(data),
          onError: (error) => void of.errors.push(...messagesOf(error)),
          onCompleted: () => (of.isComplete = true),
        });
        return of;
      },
      close: () => client.dispose(),
    };
  };
}
