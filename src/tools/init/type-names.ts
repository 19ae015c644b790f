import { snakeCaseName } from '../../base/json/key-naming.ts';

const MAX_LENGTH = 60;
/** Of GraphQL, of the schema that is written, and, with the prefix, of crier's directives. */
const RESERVED = ['Query', 'Mutation', 'Subscription', 'Int', 'Float', 'String', 'Boolean', 'ID', 'JSON', 'BigInt'];
const RESERVED_PREFIX = 'Kafka';

/** Names of types: each once. */
export class TypeNames {
  readonly #used = new Set(RESERVED);

  /** @param parent name of the type that has the field; '' for the type of the payload */
  of(parent: string, key: string): string {
    const own = pascal(singular(key)) || 'Record';
    const long = parent + own;
    const name = long.length <= MAX_LENGTH ? long : own.slice(0, MAX_LENGTH);
    const first = name.startsWith(RESERVED_PREFIX) || /^\d/.test(name) ? `Record${name}` : name;
    let free = first;
    for (let i = 2; this.#used.has(free); i++) free = `${first}${i}`;
    this.#used.add(free);
    return free;
  }
}

/** What the records of a topic are, such as `orders` of `shop.orders.v1`. */
export function nounOf(topic: string): string {
  const parts = topic.split('.').filter((part) => !/^v?\d*$/i.test(part));
  const part = (parts.at(-1) ?? topic).replace(/[-_]v?\d+$/i, '');
  return /[a-z]/i.test(part) ? part : 'record';
}

function pascal(key: string): string {
  return snakeCaseName(key)
    .split(/[^a-z0-9]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function singular(word: string): string {
  if (/[^aeiou]ies$/i.test(word)) return word.replace(/ies$/i, 'y');
  if (/(ss|x|ch|sh)es$/i.test(word)) return word.replace(/es$/i, '');
  return /[^suiSUI]s$/.test(word) ? word.slice(0, -1) : word;
}
