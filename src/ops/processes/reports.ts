/** What a process of a pod tells the one that started it, over the channel of Node. */
export type Report =
  /** It follows orders from now on. */
  | { readonly isListening: true }
  /** It listens on this port of the loopback address, for the admin port of the pod. */
  | { readonly adminPort: number }
  | { readonly started: Started }
  /** It cannot start: what a person has to fix. */
  | { readonly refused: string };

/** What the announcement of the pod says. */
export interface Started {
  /** Of the endpoint; undefined for the worker. */
  readonly port: number | undefined;
  readonly graphName: string;
  /** Of the graph, to paste. */
  readonly operation: string;
}

/** What is sent to a process of the pod in place of a signal, which the terminal or the service manager may have sent to it, too. */
export interface Order {
  readonly signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP';
}
