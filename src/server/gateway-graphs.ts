import type { StateCompleteness } from '../gateway/fanout/state-completeness.ts';
import type { Graph } from '../graph/graph.ts';
import type { GraphRuntime } from '../graph/runtime.ts';
import { ServedGraphs } from '../graph/served-graphs.ts';
import { openDocuments, showDocuments } from './documents.ts';
import type { GraphDocuments } from './documents.ts';
import type { GraphPart, OpenedGraph } from './graph-part.ts';
import { createRuntime } from './graph-runtime.ts';
import type { RuntimePorts } from './graph-runtime.ts';
import type { Component, RoleServices } from './services.ts';
import { followStates, showStates } from './states.ts';

/** A graph with what a gateway has opened to run its operations. */
interface GatewayGraph {
  readonly graph: Graph;
  readonly runtime: GraphRuntime;
  readonly documents: GraphDocuments;
  readonly states: StateCompleteness | undefined;
}

/**
 * Moves the live operations to the graph that is served. Never rejects.
 * @param isAuthenticated true if this graph or the former one has an `authenticate`
 */
type Migrate = (isAuthenticated: boolean) => Promise<void>;

/** The graph that a gateway runs operations of, and those that it has run. */
export class GatewayGraphs implements GraphPart, Component {
  readonly runtime: ServedGraphs;
  readonly #services: RoleServices;
  readonly #ports: RuntimePorts;
  readonly #migrate: Migrate;
  #served: GatewayGraph;

  static async open(services: RoleServices, ports: RuntimePorts, migrate: Migrate): Promise<GatewayGraphs> {
    return new GatewayGraphs(services, ports, migrate, await open(services, ports, services.graph, 0));
  }

  private constructor(services: RoleServices, ports: RuntimePorts, migrate: Migrate, first: GatewayGraph) {
    this.#services = services;
    this.#ports = ports;
    this.#migrate = migrate;
    this.#served = first;
    this.runtime = new ServedGraphs(first.runtime);
    showDocuments(services, () => this.#served.documents);
    showStates(services, () => this.#served.states);
  }

  /** Of a channel with a state that was read in an epoch. */
  readonly isStateComplete = (channel: string, epoch: number): boolean =>
    this.#served.states?.isComplete(channel, epoch) ?? true;

  async open(graph: Graph, generation: number): Promise<OpenedGraph> {
    const next = await open(this.#services, this.#ports, graph, generation);
    return { serve: () => this.#serve(next), discard: () => close(next) };
  }

  close(): Promise<void> {
    return close(this.#served);
  }

  async #serve(next: GatewayGraph): Promise<void> {
    const former = this.#served;
    this.#served = next;
    this.runtime.replace(next.runtime);
    await this.#migrate([former, next].some(({ graph }) => graph.context.authenticate !== undefined));
    await close(former);
  }
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
  return { graph, runtime, documents, states };
}

async function close({ documents, states }: GatewayGraph): Promise<void> {
  await documents.trusted?.close();
  await states?.close();
}
