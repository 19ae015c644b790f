import type { Config } from '../config/config.ts';
import { GraphError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { missingClaimsProblem } from '../graph/access/claims-needed.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { findUnknownBackends } from '../graph/loading/unknown-backends.ts';
import { missingBrokersProblem } from '../graph/publishing/missing-brokers.ts';
import { missingRegistryProblems } from '../graph/schema/record-format.ts';
import { prefixProblems } from '../graph/schema/redis-binding.ts';
import { gluePackageFile } from '../config/glue-package.ts';
import { lacksSchemaRegistry } from '../config/schema-registry-problems.ts';
import { acceptsTokens } from '../config/token-keys.ts';

/** Logs what a person should fix in a graph. @throws GraphError if a pod with these settings cannot serve it */
export function checkGraph(config: Config, graph: Graph, log: Logger): void {
  const problems = graphProblems(config, graph);
  if (problems.length > 0) throw new GraphError(problems.join('\n'));
  for (const { message } of findUnknownBackends(config, graph)) log.warn(message);
  for (const warning of graph.warnings) log.warn({ graph: graph.name }, warning);
}

/** Why a pod with these settings cannot serve a graph, one line each; empty: it can. */
function graphProblems(config: Config, graph: Graph): string[] {
  const collisions = prefixProblems(graph.redisBindings.values(), config);
  const missing = lacksSchemaRegistry(config)
    ? missingRegistryProblems(graph.bindings.values(), config.names, gluePackageFile(config.GRAPH) !== undefined)
    : [];
  if (config.ROLE === 'worker') return [...collisions, ...missing];
  const brokers = config.isEmbedded ? undefined : missingBrokersProblem(graph.publications, config);
  const claims = missingClaimsProblem(graph, acceptsTokens(config), config.names);
  return [...collisions, ...missing, ...[brokers, claims].filter((problem) => problem !== undefined)];
}
