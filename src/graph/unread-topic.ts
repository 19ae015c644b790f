import { didYouMean } from '../base/did-you-mean.ts';
import type { Graph } from './graph-parts.ts';

/** Why nobody would receive a record of this topic; undefined: a field reads the topic. */
export function unreadTopicProblem(topic: string, { bindings }: Pick<Graph, 'bindings'>): string | undefined {
  const read = [...new Set([...bindings.values()].flatMap(({ topics }) => topics))];
  if (read.includes(topic)) return undefined;
  const known = read.length === 0 ? 'no field has @kafka' : `topics that are read: ${read.join(', ')}`;
  return `no field of the graph reads the topic ${JSON.stringify(topic)}; ${known}${didYouMean(topic, read)}`;
}
