import { listRoute } from '../ops/admin/list-route.ts';
import { Peers } from '../ops/admin/peers.ts';
import { PodConnections } from '../ops/admin/pod-connections.ts';
import type { PodAnswer, PodQuestion } from '../ops/admin/pod-connections.ts';
import { revokeRoute } from '../ops/admin/revoke-route.ts';
import { observeRevocations, revocationCounts } from '../gateway/identity/identity-metrics.ts';
import type { Revocations } from '../gateway/identity/revocations.ts';
import { SharedRevocations } from '../gateway/identity/shared-revocations.ts';
import type { ListedConnection } from '../gateway/connections/listed-connection.ts';
import { processName } from '../config/pod-name.ts';
import { acceptsTokens } from '../config/token-keys.ts';
import type { GatewayServices } from './services.ts';

/** Lets operators list and revoke connections of all pods. Resolves when the revocations are read, or cannot be. */
export async function openRevocation(
  { bus, config, log, metrics, register, routes, unreadyWhile }: GatewayServices,
  revocations: Revocations,
  connections: Iterable<ListedConnection>,
): Promise<void> {
  const { control } = bus;
  const counts = revocationCounts(metrics);
  const pod = new PodConnections({
    connections: () => connections,
    revocations,
    onRevoked: (count) => counts.connections.inc(count),
  });
  const peers = register(
    new Peers<PodQuestion, PodAnswer>({ control, podName: processName(config), answer: pod.answer, log }),
  );
  const shared = register(new SharedRevocations({ control, revocations, onAdded: pod.closeRevoked, log }));
  // A pod that starts without them accepts revoked tokens. Later all pods have the same trouble, and know what they had read.
  if (acceptsTokens(config)) unreadyWhile('revocations', () => !shared.isRead);
  const onRefused = () => counts.refused.inc();
  observeRevocations(metrics, revocations, shared);
  routes.set('/admin/connections', listRoute(peers));
  routes.set('/admin/connections/revoke', revokeRoute({ peers, revocations, shared, log, onRefused }));
  await Promise.all([peers.start(), shared.start()]);
}
