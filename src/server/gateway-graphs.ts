import { observeStates } from '../gateway/fanout/fanout-metrics.ts';
import type { StateCompleteness } from '../gateway/fanout/state-completeness.ts';
import type { DocumentCache } from '../graph/documents/document-cache.ts';
import { documentCounts, observeDocuments } from '../graph/documents/document-metrics.ts';
import type { DocumentCounts } from '../graph/documents/document-metrics.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { runtimeCounts } from '../graph/runtime-metrics.ts';
import type { RuntimeCounts } from '../graph/runtime-metrics.ts';
import type { GraphRuntime } from '../graph/runtime.ts';
import { ServedGraphs } from '../graph/served-graphs.ts';
import { openDocuments } from './documents-stage.ts';
import type { GraphDocuments } from './documents-stage.ts';
import { createRuntime } from './graph-runtime.ts';
import type { RuntimePorts } from './graph-runtime.ts';
import type { RoleServices } from './services.ts';
import { followStates } from './states.ts';

/** A graph with what a gateway has opened to run its operations. */
interface GatewayGraph {
  readonly runtime: GraphRuntime;
  readonly documents: GraphDocuments;
  readonly states: StateCompleteness | undefined;
}

interface OpenPorts extends RuntimePorts {
  readonly counts: { readonly documents: DocumentCounts; readonly runtime: RuntimeCounts };
}

/** The graph that a gateway runs operations of, and those that it has run. */
export interface GatewayGraphs {
  readonly runtime: ServedGraphs;
  /** Of a channel with a state that was read in an epoch. */
  readonly isStateComplete: StateCompleteness['isComplete'];
  /** The cached document whose text has this SHA-256, in hex; it counts as no use. */
  readonly peekDocument: DocumentCache['peek'];
}

export async function openGraphs(services: RoleServices, ports: RuntimePorts): Promise<GatewayGraphs> {
  const { details, graph, metrics, register } = services;
  const counts = { documents: documentCounts(metrics), runtime: runtimeCounts(metrics) };
  const openNext = (next: Graph, generation: number) => open(services, { ...ports, counts }, next, generation);
  const first = await openNext(graph.current, 0);
  const runtime = new ServedGraphs(first.runtime);
  const served = graph.derive(first, { open: openNext, serve: (next) => runtime.replace(next.runtime), close });
  register({ close: () => close(served.current) });
  observeDocuments(metrics, () => served.current.documents);
  observeStates(metrics, () => served.current.states);
  details['incomplete_states'] = () => served.current.states?.incomplete;
  return {
    runtime,
    isStateComplete: (channel, epoch) => served.current.states?.isComplete(channel, epoch) ?? true,
    peekDocument: (key) => served.current.documents.cache.peek(key),
  };
}

async function open(
  services: RoleServices,
  { counts, ...ports }: OpenPorts,
  graph: Graph,
  generation: number,
): Promise<GatewayGraph> {
  const documents = await openDocuments(services, graph, counts.documents);
  const states = await followStates(services, graph);
  const isStateComplete = states && ((channel: string, epoch: number) => states.isComplete(channel, epoch));
  const runtime = createRuntime(services, ports, {
    graph,
    generation,
    counts: counts.runtime,
    documents: documents.requested,
    isStateComplete,
  });
  return { runtime, documents, states };
}

async function close({ documents, states }: GatewayGraph): Promise<void> {
  await documents.trusted?.close();
  await states?.close();
}
