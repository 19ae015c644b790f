import { isObjectType } from 'graphql';
import type { SettingNames } from '../../config/setting-names.ts';
import type { Graph } from '../graph-parts.ts';
import { accessRuleOf } from './access-rule.ts';
import { parseAccessRules } from './access-rules.ts';

/** Why crier refuses to start with a graph that needs claims, if connections would have none; undefined: it starts. */
export function missingClaimsProblem(graph: Graph, acceptsTokens: boolean, names: SettingNames): string | undefined {
  if (acceptsTokens || graph.context.authenticate) return undefined;
  const coordinate = coordinateThatNeedsClaims(graph);
  return (
    coordinate &&
    `${coordinate} is only for connections with claims, and no connection would have any; configure the keys of tokens ` +
      `(${names.JWT_JWKS_URL}, ${names.JWT_PUBLIC_KEY} or ${names.JWT_SECRET}) and not ${names.AUTH}=none, or export authenticate from context.ts`
  );
}

/** The schema coordinate of the first element that is only for connections with claims; undefined: there is none. */
function coordinateThatNeedsClaims({ schema, bindings, publications }: Graph): string | undefined {
  for (const { field, where } of bindings.values()) {
    if (where.length > 0) return `${schema.getSubscriptionType()!.name}.${field}`;
  }
  for (const { field, claims } of publications) {
    if (claims.length > 0) return `${schema.getMutationType()!.name}.${field}`;
  }
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    const field = Object.values(type.getFields()).find(accessRuleOf);
    if (field) return `${type.name}.${field.name}`;
  }
  const [type] = parseAccessRules(schema).types.keys();
  return type?.name;
}
