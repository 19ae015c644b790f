import { isInterfaceType, isObjectType } from 'graphql';
import type { ConstDirectiveNode, GraphQLField, GraphQLSchema } from 'graphql';
import { lineOf } from './problem.ts';

/** The first use of a directive on a field; undefined: there is none. */
export function directiveOf(
  { astNode }: Pick<GraphQLField<unknown, unknown>, 'astNode'>,
  name: string,
): ConstDirectiveNode | undefined {
  return astNode?.directives?.find((directive) => directive.name.value === name);
}

/** A line for each field outside of the Subscription type that has a directive which feeds a field. Without that type, its lack is the mistake. */
export function misplacedUses(schema: GraphQLSchema, name: string): string[] {
  if (!schema.getSubscriptionType()) return [];
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  return types
    .filter((type) => type !== schema.getSubscriptionType())
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) => {
        const directive = directiveOf(field, name);
        if (!directive) return [];
        return `${lineOf(directive)}${type.name}.${field.name}: @${name} feeds only fields of the Subscription type; remove it here`;
      }),
    );
}
