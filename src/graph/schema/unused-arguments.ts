import { Kind, isRequiredArgument } from 'graphql';
import type { ConstValueNode, GraphQLField } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';

type Field = GraphQLField<unknown, unknown>;

/**
 * Reads the `unused` of a @kafka or @redis: arguments that select no events on purpose.
 * @param user of the arguments that are used
 */
export function readUnused(
  items: readonly ConstValueNode[],
  field: Field,
  used: ReadonlySet<string>,
  problems: string[],
  user = 'match',
): ReadonlySet<string> {
  const unused = new Set<string>();
  for (const item of items) {
    if (item.kind !== Kind.STRING) {
      problems.push('unused must be a list of argument names, such as ["order_id"]');
    } else if (used.has(item.value)) {
      problems.push(`unused names the argument "${item.value}", which ${user} uses; remove it from one of them`);
    } else if (!field.args.some(({ name }) => name === item.value)) {
      const names = field.args.map(({ name }) => name);
      problems.push(
        `unused names the argument "${item.value}", which the field does not have${didYouMean(item.value, names)}`,
      );
    } else unused.add(item.value);
  }
  return unused;
}

/**
 * Finds arguments that select no events: a client that gives one expects only its own events and would receive all. A required one is a
 * problem, an optional one a warning. A resolver of the field counts as a use of all arguments, because it may hide or change an event
 * by them. `authorize` does not count: it decides once and filters no event.
 * @param use how the directive would use an argument
 */
export function checkUse(
  field: Field,
  used: ReadonlySet<string>,
  { problems, warnings }: { readonly problems: string[]; readonly warnings: string[] },
  use: (name: string) => string = (name) => `add { arg: "${name}", path: "…" } to match`,
): void {
  if (field.resolve) return;
  for (const argument of field.args) {
    if (used.has(argument.name)) continue;
    const { name } = argument;
    const fix = `${use(name)}, give the field a resolver that reads it, or declare unused: ["${name}"]`;
    const reason = `the argument "${name}" chooses no events: a subscriber receives those of every "${name}"`;
    (isRequiredArgument(argument) ? problems : warnings).push(`${reason}; ${fix}`);
  }
}
