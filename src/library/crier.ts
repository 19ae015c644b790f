/** `crier`: the server inside another program. */

export { ConfigError, GraphError, SetupError } from '../base/errors.ts';
export type { NewRecord } from '../graph/context/publishing.ts';
export type { Graph } from '../graph/graph-parts.ts';
export { createServer } from './create-server.ts';
export type { Server, ServerOptions } from './create-server.ts';
export { defineGraph } from './define-graph.ts';
export type { GraphDefinition } from './define-graph.ts';
