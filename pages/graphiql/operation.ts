import { Kind, getOperationAST, parse, valueFromASTUntyped } from 'graphql';

/** What the page knows of an operation that it runs. */
export interface Operation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** Name of the first root field; '' without one. */
  readonly field: string;
  /** Values of its arguments, by name. */
  readonly args: Readonly<Record<string, unknown>>;
}

type Variables = Readonly<Record<string, unknown>>;

/** The operation that a server would run. A text that is not GraphQL counts as a query: the server says what is wrong with it. */
export function operationOf(query: string, operationName: string | null = null, variables: Variables = {}): Operation {
  try {
    const definition = getOperationAST(parse(query, { noLocation: true }), operationName);
    const [field] = definition?.selectionSet.selections ?? [];
    if (!definition || field?.kind !== Kind.FIELD)
      return { kind: definition?.operation ?? 'query', field: '', args: {} };
    const args = (field.arguments ?? []).map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]);
    return { kind: definition.operation, field: field.name.value, args: Object.fromEntries(args) as Variables };
  } catch {
    return { kind: 'query', field: '', args: {} };
  }
}
