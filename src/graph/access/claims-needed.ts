import { isObjectType } from 'graphql';
import type { Graph } from '../graph.ts';
import { accessRuleOf } from './access-rule.ts';
import { parseAccessRules } from './access-rules.ts';

/** The schema coordinate of the first element that is only for connections with claims; undefined: there is none. */
export function coordinateThatNeedsClaims({ schema, bindings }: Pick<Graph, 'schema' | 'bindings'>): string | undefined {
  for (const { field, where } of bindings.values()) {
    if (where.length > 0) return `${schema.getSubscriptionType()!.name}.${field}`;
  }
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    const field = Object.values(type.getFields()).find(accessRuleOf);
    if (field) return `${type.name}.${field.name}`;
  }
  const [type] = parseAccessRules(schema).types.keys();
  return type?.name;
}
