import { topicOf } from '../bus/channel.ts';
import { StateCompleteness } from '../fanout/state-completeness.ts';
import { stateSignatures } from '../graph/state/state-signature.ts';
import type { RoleServices } from './services.ts';

/**
 * Follows which topics have complete states. Returns undefined where states need no fill: the graph keeps none, or its records are the
 * graph's own samples.
 */
export async function followStates(services: RoleServices): Promise<StateCompleteness['isComplete'] | undefined> {
  const { config, graph, bus, metrics, details, register } = services;
  const signatures = stateSignatures(graph.bindings.values(), bus.stateFills.servers);
  if (signatures.size === 0 || config.REDIS_URL.length === 0) return undefined;
  const states = register(
    new StateCompleteness({
      fills: bus.stateFills,
      signatures,
      topicOf: (channel) => topicOf(channel, config.CHANNEL_PREFIX),
    }),
  );
  await states.start();
  details['incomplete_states'] = () => states.incomplete;
  metrics.gauges(
    'crier_states_complete',
    '1 if each partition of the topic has been read from its beginning, so that the states of its channels are complete, else 0.',
    ['topic'],
    () =>
      Array.from(signatures.keys(), (topic) => ({
        labels: { topic },
        value: Number(!states.incomplete.includes(topic)),
      })),
  );
  return (channel, epoch) => states.isComplete(channel, epoch);
}
