import fc from 'fast-check';

/** Random arguments: their types, how a client passes them, and how a resolver writes to them. */
export interface RandomArguments {
  /** Argument definition of a field: `argument: Type = default`. */
  readonly definitions: string;
  readonly inputTypes: string;
  /** Variable definitions of an operation: `($name: Type = default)`, or ''. */
  readonly variableDefinitions: string;
  /** `(argument: value)`, or ''. */
  readonly passed: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** One step of a writer. `turns` lead from the arguments to the value that it works on, one key at each level. */
export interface WriterStep {
  readonly act: 'fill' | 'replace' | 'remove' | 'remember';
  readonly turns: readonly number[];
}

type Container = Record<string, unknown> | unknown[];

const names = fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 });
const inner = fc.record({ names, owner: fc.constant('x') }, { requiredKeys: [] });
const filter = fc.record({ tags: names, inner, owner: fc.constant('y') }, { requiredKeys: [] });
const { tree } = fc.letrec((tie) => ({
  tree: fc.record({ tags: names, next: fc.option(tie('tree'), { depthSize: 'small' }) }, { requiredKeys: [] }),
}));
const anything = fc.record({ list: names, inner }, { requiredKeys: [] });

/** `isSent`: false for an object that a custom scalar takes from a client as it is; crier freezes it. */
const ARGUMENTS: Readonly<Record<string, { type: string; value: fc.Arbitrary<unknown>; isSent: boolean }>> = {
  names: { type: '[String!]', value: names, isSent: true },
  lists: { type: '[[String!]]', value: fc.array(names, { maxLength: 2 }), isSent: true },
  inner: { type: 'Inner', value: inner, isSent: true },
  filter: { type: 'Filter', value: filter, isSent: true },
  filters: { type: '[Filter!]', value: fc.array(filter, { maxLength: 2 }), isSent: true },
  grid: {
    type: '[[Filter!]!]',
    value: fc.array(fc.array(filter, { maxLength: 2 }), { maxLength: 2 }),
    isSent: true,
  },
  tree: { type: 'Tree', value: tree, isSent: true },
  any: { type: 'Any', value: anything, isSent: false },
};

const passing = fc.constantFrom('left out', 'literal', 'variable', 'variable not sent', 'variable with default');

const argument = (name: string) => {
  const { type, value, isSent } = ARGUMENTS[name]!;
  const cases = { passing, value, other: value, initial: withDefault(value) };
  return fc.record(cases).map(({ passing: how, value: given, other, initial }) => {
    const isVariable = isSent && how.startsWith('variable');
    return {
      definition: `${name}: ${type}${initial}`,
      variableDefinition: isVariable
        ? `$${name}: ${type}${how === 'variable with default' ? ` = ${literal(other)}` : ''}`
        : undefined,
      passed: isVariable ? `${name}: $${name}` : how === 'literal' ? `${name}: ${literal(given)}` : undefined,
      variables: isVariable && how === 'variable' ? { [name]: given } : {},
    };
  });
};

const inputTypes = fc
  .tuple(withDefault(names), withDefault(names), withDefault(inner), withDefault(anything), withDefault(names))
  .map(
    ([innerNames, tags, filterInner, any, treeTags]) => `
      input Inner { names: [String!]${innerNames} owner: String }
      input Filter { tags: [String!]${tags} inner: Inner${filterInner} any: Any${any} owner: String }
      input Tree { tags: [String!]${treeTags} next: Tree }`,
  );

export const argumentsOf: fc.Arbitrary<RandomArguments> = fc
  .tuple(
    fc
      .uniqueArray(fc.constantFrom(...Object.keys(ARGUMENTS)), { minLength: 1, maxLength: 4 })
      .chain((used) => fc.tuple(...used.map(argument))),
    inputTypes,
  )
  .map(([all, types]) => {
    const variableDefinitions = all.flatMap(({ variableDefinition }) => variableDefinition ?? []);
    const passed = all.flatMap((each) => each.passed ?? []);
    return {
      definitions: all.map(({ definition }) => definition).join(' '),
      inputTypes: types,
      variableDefinitions: variableDefinitions.length > 0 ? `(${variableDefinitions.join(' ')})` : '',
      passed: passed.length > 0 ? `(${passed.join(' ')})` : '',
      variables: Object.assign({}, ...all.map(({ variables }) => variables)) as Record<string, unknown>,
    };
  });

export const writerOf: fc.Arbitrary<WriterStep[]> = fc.array(
  fc.record({
    act: fc.constantFrom('fill', 'replace', 'remove', 'remember'),
    turns: fc.array(fc.nat(3), { maxLength: 4 }),
  }),
  { maxLength: 6 },
);

/** Writes `note` into arguments. Returns the arguments before, the value at each step, and the arguments after. */
export function write(
  steps: readonly WriterStep[],
  args: Record<string, unknown>,
  note: string,
  memory: WeakMap<object, string>,
): unknown[] {
  const before = JSON.stringify(args);
  const seen = steps.map(({ act, turns }) => {
    try {
      return acts[act](containerAt(args, turns), turns.at(-1) ?? 0, note, memory);
    } catch (error) {
      return String(error);
    }
  });
  return [before, ...seen, JSON.stringify(args)];
}

const acts = {
  fill: (value: Container, _: number, note: string) => {
    if (Array.isArray(value)) return value.push(note);
    return (value['owner'] ??= note);
  },
  replace: (value: Container, turn: number, note: string) => void Reflect.set(value, keyAt(value, turn) ?? 0, note),
  remove: (value: Container, turn: number) =>
    Array.isArray(value) ? value.pop() : Reflect.deleteProperty(value, keyAt(value, turn) ?? ''),
  remember: (value: Container, _: number, note: string, memory: WeakMap<object, string>) => {
    if (!memory.has(value)) memory.set(value, note);
    return memory.get(value);
  },
};

function containerAt(args: Container, turns: readonly number[]): Container {
  let value = args;
  for (const turn of turns) {
    const next = Reflect.get(value, keyAt(value, turn) ?? '') as unknown;
    if (typeof next !== 'object' || next === null) break;
    value = next as Container;
  }
  return value;
}

/** Ignores keys without a value, which are not guaranteed. */
function keyAt(value: Container, turn: number): string | undefined {
  const keys = Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined);
  return keys[turn % keys.length];
}

function withDefault(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.option(value, { nil: undefined }).map((some) => (some === undefined ? '' : ` = ${literal(some)}`));
}

function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1:');
}
