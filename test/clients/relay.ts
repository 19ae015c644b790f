import type { Client as WebSocketClient } from 'graphql-ws';
import { OwnPackages } from '../support/own-packages.ts';
import { messagesOf, untold } from './client.ts';
import type { Client } from './client.ts';
import { clientOfPage, disposed } from './javascript-clients.ts';

/** A subscription that Relay's compiler wrote. */
interface Compiled {
  readonly params: { readonly name: string; readonly text: string };
}

/** What this file uses of relay-runtime, which is not installed where this file is compiled. */
interface Relay {
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

const FOLDER = 'test/clients/fixtures/relay';
const packages = new OwnPackages(FOLDER);

/** Installs Relay; returns what makes a client of it over a client of graphql-ws. It knows the subscription of the fixture. */
export async function installRelay(): Promise<(client: WebSocketClient) => Client> {
  packages.install();
  const { default: relay } = await packages.import<{ default: Relay }>('relay-runtime');
  const { default: compiled } = await packages.import<{ default: Compiled }>('./ordersSubscription.graphql.js');
  const relayOf = await clientOfPage<object, [fetchQuery: () => never]>('relay', `${FOLDER}/node_modules`);
  return (client) => {
    const environment = relayOf(client, () => {
      throw new Error('no queries');
    });
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
      close: () => disposed(client),
    };
  };
}
