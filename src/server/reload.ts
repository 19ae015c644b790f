import { Peers } from '../ops/admin/peers.ts';
import { answerReloads, reloadPods, reloadRoute } from '../ops/admin/reload-route.ts';
import type { PodReload, ReloadQuestion, ReloadReport } from '../ops/admin/reload-route.ts';
import type { Route } from '../gateway/http/route.ts';
import { processName } from '../config/pod-name.ts';
import type { GraphReloads } from './graph-reloads.ts';
import type { RoleServices } from './services.ts';

/** Lets operators reload the graph of all pods. Resolves when the others can be asked, or the bus is away. */
export async function openReload(
  { bus, config, log, register }: RoleServices,
  reloads: GraphReloads,
  routes: Map<string, Route>,
): Promise<() => Promise<ReloadReport>> {
  const peers = register(
    new Peers<ReloadQuestion, PodReload | null>({
      group: 'reload-',
      control: bus.control,
      podName: processName(config),
      answer: answerReloads(() => reloads.reload()),
      log,
    }),
  );
  await peers.start();
  routes.set('/admin/reload', reloadRoute({ peers, log }));
  return () => reloadPods(peers);
}
