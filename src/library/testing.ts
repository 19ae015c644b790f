/** `crier/testing`: a graph of one's own in a test, with any test runner. */

export type { SubscribeOptions, TestGraph, TestGraphOptions } from './testing/test-graph.ts';
export { startGraph } from './testing/test-graph.ts';
export type { TestEvents } from './testing/test-events.ts';
