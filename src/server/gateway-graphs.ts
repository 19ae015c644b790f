import type { StateCompleteness } from '../gateway/fanout/state-completeness.ts';
import type { Graph } from '../graph/graph.ts';
import type { GraphRuntime } from '../graph/runtime.ts';
import { ServedGraphs } from '../graph/served-graphs.ts';
import { openDocuments, showDocuments } from './documents.ts';
import type { GraphDocuments } from './documents.ts';
import { createRuntime } from './graph-runtime.ts';
import type { RuntimePorts } from './graph-runtime.ts';
import type { RoleServices } from './services.ts';
import { followStates, showStates } from './states.ts';

/** A graph with what a gateway has opened to run its operations. */
interface GatewayGraph {
  readonly runtime: GraphRuntime;
  readonly documents: GraphDocuments;
  readonly states: StateCompleteness | undefined;
}

/** The graph that a gateway runs operations of, and those that it has run. */
export interface GatewayGraphs {
  readonly runtime: ServedGraphs;
  /** Of a channel with a state that was read in an epoch. */
  readonly isStateComplete: StateCompleteness['isComplete'];
}

export async function openGraphs(services: RoleServices, ports: RuntimePorts): Promise<GatewayGraphs> {
  const { graph, register } = services;
  const openNext = (next: Graph, generation: number) => open(services, ports, next, generation);
  const first = await openNext(graph.current, 0);
  const runtime = new ServedGraphs(first.runtime);
  const served = graph.derive(first, { open: openNext, serve: (next) => runtime.replace(next.runtime), close });
  register({ close: () => close(served.current) });
  showDocuments(services, () => served.current.documents);
  showStates(services, () => served.current.states);
  return { runtime, isStateComplete: (channel, epoch) => served.current.states?.isComplete(channel, epoch) ?? true };
}

async function open(
  services: RoleServices,
  ports: RuntimePorts,
  graph: Graph,
  generation: number,
): Promise<GatewayGraph> {
  const documents = await openDocuments(services, graph);
  const states = await followStates(services, graph);
  const isStateComplete = states && ((channel: string, epoch: number) => states.isComplete(channel, epoch));
  const runtime = createRuntime(services, ports, {
    graph,
    generation,
    documents: documents.requested,
    isStateComplete,
  });
  return { runtime, documents, states };
}

async function close({ documents, states }: GatewayGraph): Promise<void> {
  await documents.trusted?.close();
  await states?.close();
}
