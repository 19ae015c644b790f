import type { Graph } from '../graph-parts.ts';
import { recordValueProblem } from '../record-value-problem.ts';
import { unreadTopicProblem } from '../unread-topic.ts';

type Parts = Pick<Graph, 'bindings' | 'formats' | 'envelopes'>;

/**
 * Why nobody would receive a record that samples.ts yields; undefined: a field may.
 * @param record whatever the graph's code yields
 */
export function sampleProblem(record: unknown, graph: Parts): string | undefined {
  const problem = problemOf(record, graph);
  return problem && `samples.ts yields a record that nobody receives: ${problem}`;
}

function problemOf(record: unknown, graph: Parts): string | undefined {
  const [topic = 'orders'] = [...graph.bindings.values()].flatMap(({ topics }) => topics);
  const example = `yield { topic: ${JSON.stringify(topic)}, value: { … } }`;
  if (typeof record !== 'object' || record === null) return `it is ${described(record)} and no object; ${example}`;
  const { topic: given, key, value } = record as Readonly<Record<string, unknown>>;
  if (given === undefined) return `it has no topic; ${example}`;
  if (typeof given !== 'string') return `its topic is ${described(given)} and no text; ${example}`;
  if (key !== undefined && typeof key !== 'string')
    return `its key is ${described(key)} and no text; write key: String(…)`;
  return unreadTopicProblem(given, graph) ?? recordValueProblem(given, value, graph);
}

function described(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
