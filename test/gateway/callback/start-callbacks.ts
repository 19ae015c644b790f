import { waitFor } from '../../support/wait-for.ts';
import type { Scope } from '../../support/socket.ts';
import { startStreams } from '../streams/start-streams.ts';
import { createProbe } from '../websocket/probe.ts';
import { CallbackRouter } from './callback-router.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';

/** A crier and a router to which it may post, and a source of events. */
export async function startCallbacks(scope: Scope, settings: Readonly<Record<string, string>> = {}) {
  const { router, ...crier } = await CallbackRouter.beside(scope, (url) =>
    startStreams(scope, { CALLBACK_URLS: url, ...settings }),
  );
  const probe = createProbe(scope);
  const variables = { token: probe.token };
  const live = async (options: object = {}) => {
    const begun = await router.subscribe(crier.url, LIVE, { variables, ...options });
    if (begun.status === 200) await waitFor('its source', () => probe.starts > probe.returns);
    return begun;
  };
  return { router, probe, live, ...crier };
}
