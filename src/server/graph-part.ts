import type { Graph } from '../graph/graph.ts';

/** A part of the pod that serves the graph, and can serve another one in its place. */
export interface GraphPart {
  /**
   * Opens a graph beside the one that is served, which changes nothing yet.
   * @param generation counts the graphs that the pod has opened: the first is 0
   * @throws SetupError: this pod cannot serve it
   */
  open(graph: Graph, generation: number): Promise<OpenedGraph>;
}

/** A graph that is open beside the one that is served: exactly one of the two follows. */
export interface OpenedGraph {
  /** Serves it from this turn of the event loop on. Resolves when nothing of the former graph is needed any more, and is closed. */
  serve(): Promise<void>;
  /** Closes it: it is not served. */
  discard(): Promise<void>;
}

/** Opens nothing beside the former graph: `serve` replaces what it needs of it. */
export function replacing(replace: (graph: Graph) => void): GraphPart {
  return {
    open: (graph) =>
      Promise.resolve({
        serve: () => {
          replace(graph);
          return Promise.resolve();
        },
        discard: () => Promise.resolve(),
      }),
  };
}
