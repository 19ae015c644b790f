import { Kind } from 'graphql';
import type { ConstValueNode, GraphQLSchema } from 'graphql';
import type { KeyNaming } from '../../base/json/key-naming.ts';
import { lineOf } from './problem.ts';

/** The definition of @crier, which holds defaults for all fields of a schema. */
export const CRIER_DIRECTIVE = /* GraphQL */ `
  "Defaults for all fields of the schema."
  directive @crier("For each @kafka without keys." keys: KafkaKeys) on SCHEMA
`;

/** Reads the `keys` of the schema's @crier; SNAKE where there is none. */
export function readDefaultKeys(schema: GraphQLSchema, problems: string[]): KeyNaming {
  const nodes = [schema.astNode, ...schema.extensionASTNodes].flatMap((node) => node?.directives ?? []);
  const directive = nodes.find(({ name }) => name.value === 'crier');
  const keys = directive?.arguments?.find(({ name }) => name.value === 'keys')?.value;
  const found: string[] = [];
  const naming = readKeys(keys, 'SNAKE', found);
  problems.push(...found.map((problem) => `${lineOf(directive)}@crier: ${problem}`));
  return naming;
}

/** Reads the `keys` of a @kafka. */
export function readKeys(node: ConstValueNode | undefined, byDefault: KeyNaming, problems: string[]): KeyNaming {
  if (!node || node.kind === Kind.NULL) return byDefault;
  if (node.kind === Kind.ENUM && (node.value === 'SNAKE' || node.value === 'KEEP')) return node.value;
  problems.push('keys must be SNAKE or KEEP, without quotes');
  return byDefault;
}
