import { getLocation } from 'graphql';
import type { ASTNode } from 'graphql';

/** `schema.graphql:12: `, or '' for a node without a location. */
export function lineOf(node: ASTNode | null | undefined): string {
  if (!node?.loc) return '';
  return `${node.loc.source.name}:${getLocation(node.loc.source, node.loc.start).line}: `;
}
