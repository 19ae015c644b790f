import { topicOf } from '../bus/channel.ts';
import { StateCompleteness } from '../gateway/fanout/state-completeness.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { stateSignatures } from '../graph/state/state-signature.ts';
import type { RoleServices } from './services.ts';

/**
 * Follows which topics have complete states. Returns undefined where states need no fill: the graph keeps none, or its records are the
 * graph's own samples.
 */
export async function followStates(
  { config, bus }: RoleServices,
  graph: Graph,
): Promise<StateCompleteness | undefined> {
  const signatures = stateSignatures(graph.bindings.values(), bus.stateFills.places);
  if (signatures.size === 0 || config.isEmbedded) return undefined;
  const states = new StateCompleteness({
    fills: bus.stateFills,
    signatures,
    topicOf: (channel) => topicOf(channel, config.CHANNEL_PREFIX),
  });
  await states.start();
  return states;
}
