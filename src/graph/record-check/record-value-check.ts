import { isEnumType, isLeafType, isListType, isNonNullType, isObjectType, isUnionType } from 'graphql';
import type {
  GraphQLAbstractType,
  GraphQLLeafType,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
} from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { hasResolver, hasTypeResolver } from '../execution/executable.ts';
import { connectTypeAt } from './connect-schema.ts';
import { isJsonObject } from '../../base/json/json-object.ts';
import { valueAt } from '../../base/json/value-at.ts';
import { kindOf, listed, placeOf, problemOf, shortened } from './described.ts';
import type { RecordOrigin, RecordProblem } from './described.ts';
import type { CheckedRecord } from './key-check.ts';
import { RawColumns } from './raw-columns.ts';
import { isVariableScale, rawDecimal, rawTime } from './raw-values.ts';
import type { RawValue } from './raw-values.ts';

/** Values that are looked at in one record. */
const MAX_VALUES = 2000;
/** Items of a list. */
const MAX_ITEMS = 20;

/** Of a whole number that Int cannot hold. */
export const INTEGER_FIX = 'make the field BigInt (scalar BigInt), which shows all digits as text, or ID';

/** Of a value that is null itself. */
const NULL = '';

interface Absence {
  readonly problem: string;
  /** It cannot be an optional field that these records happen not to have. */
  readonly isCertain: boolean;
}

/** Compares values of payloads with the types that read them, and remembers what does not fit: each field once. */
export class ValueCheck {
  readonly #schema: GraphQLSchema;
  readonly #origin: RecordOrigin;
  readonly #misfits = new Map<string, string>();
  readonly #present = new Set<string>();
  readonly #absent = new Map<string, Absence>();
  /** Of values that may be as they should be. */
  readonly #hints = new Map<string, string>();
  readonly #columns = new RawColumns();
  /** Coordinates of which a value made the whole of a record's null. */
  readonly #blocking = new Set<string>();
  /** True: a record's value is shown. */
  #isShown = false;
  #record: CheckedRecord['payload'] = {};
  #isUntyped = false;
  #left = 0;

  /** @param schema prepared for execution */
  constructor(schema: GraphQLSchema, origin: RecordOrigin) {
    this.#schema = schema;
    this.#origin = origin;
  }

  /**
   * @param coordinate of the field that reads the value
   * @param path of the value in the record's payload
   */
  add(
    coordinate: string,
    type: GraphQLOutputType,
    path: readonly string[],
    { payload, isUntyped = false }: Pick<CheckedRecord, 'payload' | 'isUntyped'>,
  ): void {
    this.#left = MAX_VALUES;
    this.#record = payload;
    this.#isUntyped = isUntyped;
    const blocker = this.#visit(coordinate, type, valueAt(payload, path), path);
    if (blocker === undefined) this.#isShown = true;
    else this.#blocking.add(blocker);
  }

  get misfits(): RecordProblem[] {
    const isBlocking = (coordinate: string) => !this.#isShown && this.#blocking.has(coordinate);
    const misfits = Array.from(this.#misfits, ([coordinate, text]) => ({ text, isBlocking: isBlocking(coordinate) }));
    const absences = this.#absences(true).map(([coordinate, text]) => ({ text, isBlocking: isBlocking(coordinate) }));
    return [...misfits, ...this.#rawColumns(true), ...absences];
  }

  /** Nullable fields that no record has, and values that may be meant so. */
  get uncertain(): RecordProblem[] {
    const absences = this.#absences(false).map(([, text]) => problemOf(text));
    return [...Array.from(this.#hints.values(), problemOf), ...this.#rawColumns(false), ...absences];
  }

  #absences(isCertain: boolean): (readonly [coordinate: string, text: string])[] {
    return [...this.#absent].flatMap(([coordinate, absence]) =>
      absence.isCertain === isCertain && !this.#present.has(coordinate) ? [[coordinate, absence.problem] as const] : [],
    );
  }

  #rawColumns(isCertain: boolean): RecordProblem[] {
    const isNamed = (coordinate: string) => this.#misfits.has(coordinate) || this.#hints.has(coordinate);
    return this.#columns.found
      .filter((one) => one.isCertain === isCertain && !isNamed(one.coordinate))
      .map(({ coordinate, found }) => problemOf(`${coordinate}: the record has ${found}`));
  }

  /** Returns the coordinate of what makes the value null, or NULL if it is so itself; undefined: it is shown. */
  #visit(coordinate: string, type: GraphQLOutputType, value: unknown, path: readonly string[]): string | undefined {
    if (this.#left-- <= 0) return undefined;
    if (isNonNullType(type)) {
      if (value !== null) return this.#visit(coordinate, type.ofType, value, path);
      const fix = `make the field nullable (${String(type.ofType)}), or correct ${this.#origin}`;
      return this.#note(coordinate, `null at ${placeOf(path)}, which ${String(type)} does not allow; ${fix}`);
    }
    if (value === null || value === undefined) return NULL;
    if (isListType(type)) {
      if (!Array.isArray(value)) return this.#noteKind(coordinate, `a list (${String(type)})`, value, path);
      const items = value.slice(0, MAX_ITEMS).map((item) => this.#visit(coordinate, type.ofType, item, path));
      return isNonNullType(type.ofType) ? items.find((item) => item !== undefined) : undefined;
    }
    if (this.#isUntyped) this.#columns.add(coordinate, path, value);
    if (isLeafType(type)) return this.#visitLeaf(coordinate, type, value, path);
    if (!isJsonObject(value)) return this.#noteKind(coordinate, `an object (${type.name})`, value, path);
    if (this.#isUntyped && isVariableScale(value)) return undefined;
    if (isObjectType(type)) return this.#visitFields(type, value, path);
    const { object, blocker } = this.#typeOf(coordinate, type, value, path);
    return object ? this.#visitFields(object, value, path) : blocker;
  }

  #visitLeaf(coordinate: string, type: GraphQLLeafType, value: unknown, path: readonly string[]): string | undefined {
    const schemaType = connectTypeAt(this.#record, path);
    if (schemaType) {
      const { name, envelope } = schemaType;
      const fix = `write envelope: ${envelope} in @kafka`;
      this.#note(
        coordinate,
        `a value of ${name} at ${placeOf(path)}, as its own schema says, which is not used; ${fix}`,
      );
      return undefined;
    }
    if (isShownBy(type, value)) {
      const raw = type.name === 'String' ? rawTime(path.at(-1) ?? '', value) : undefined;
      if (raw) this.#noteRaw(coordinate, raw, value, path);
      return undefined;
    }
    const raw = isEnumType(type) ? undefined : rawDecimal(value);
    if (raw) this.#noteRaw(coordinate, raw, value, path);
    else if (isEnumType(type) && typeof value === 'string') {
      const names = type.getValues().map(({ name }) => name);
      const fix = `add it there, or correct ${this.#origin}${didYouMean(value, names)}`;
      this.#note(
        coordinate,
        `${shortened(value)} at ${placeOf(path)}, which is not in the enum ${type.name} (${listed(names)}); ${fix}`,
      );
    } else {
      const isInteger = type.name === 'Int' && /^-?\d+$/.test(String(value));
      const fix = isInteger ? INTEGER_FIX : 'change the type of the field, or give it a resolver';
      this.#note(coordinate, `${kindOf(value)} at ${placeOf(path)}, which does not fit the type ${type.name}; ${fix}`);
    }
    return coordinate;
  }

  /** Without both: it cannot be told. */
  #typeOf(
    coordinate: string,
    type: GraphQLAbstractType,
    value: Readonly<Record<string, unknown>>,
    path: readonly string[],
  ): { readonly object?: GraphQLObjectType; readonly blocker?: string } {
    // It may need a context.
    if (hasTypeResolver(type)) return {};
    const name = value['__typename'];
    const possible = this.#schema.getPossibleTypes(type);
    const object = possible.find((one) => one.name === name);
    if (object) return { object };
    const found = typeof name === 'string' ? `the __typename ${shortened(name)}` : 'no __typename';
    const names = listed(possible.map((one) => one.name));
    const fix = `write one of ${names} into each such value${this.#origin === 'samples.ts' ? ' in samples.ts' : ''}, or write export const ${type.name} = { __resolveType(value) { … } } in resolvers.ts`;
    const kind = isUnionType(type) ? 'union' : 'interface';
    const expected = `which says the type of the ${kind} ${type.name}`;
    return { blocker: this.#note(coordinate, `${found} at ${placeOf(path)}, ${expected}; ${fix}`) };
  }

  #visitFields(
    type: GraphQLObjectType,
    value: Readonly<Record<string, unknown>>,
    path: readonly string[],
  ): string | undefined {
    let blocker: string | undefined;
    for (const field of Object.values(type.getFields())) {
      if (hasResolver(field)) continue;
      const coordinate = `${type.name}.${field.name}`;
      if (Object.hasOwn(value, field.name)) {
        this.#present.add(coordinate);
        const found = this.#visit(coordinate, field.type, value[field.name], [...path, field.name]);
        if (isNonNullType(field.type)) blocker ??= found;
        continue;
      }
      if (isNonNullType(field.type)) blocker ??= coordinate;
      if (!this.#absent.has(coordinate)) {
        const unread = Object.keys(value).filter((key) => !Object.hasOwn(type.getFields(), key));
        const near = didYouMean(field.name, unread);
        const isRequired = isNonNullType(field.type);
        const found = `no "${field.name}" at ${placeOf(path)}, where its keys are ${listed(Object.keys(value))}${near}`;
        const effect = isRequired ? `${String(field.type)} does not allow null` : 'the field is null';
        const fix = `rename the field${isRequired ? ', make it nullable' : ''}, or give it a resolver`;
        const problem = `${coordinate}: the record has ${found}, and ${effect}; ${fix}`;
        this.#absent.set(coordinate, { problem, isCertain: isRequired || near !== '' });
      }
    }
    return blocker;
  }

  #noteKind(coordinate: string, expected: string, value: unknown, path: readonly string[]): string {
    // As MongoDB's connector writes the documents before and after a change.
    const isJsonText = typeof value === 'string' && /^\s*[{[]/.test(value);
    const found = isJsonText ? 'a JSON text inside a string' : kindOf(value);
    const fix = `${isJsonText ? `correct ${this.#origin}` : 'change the type of the field'}, or give it a resolver`;
    return this.#note(coordinate, `${found} at ${placeOf(path)}, and the field is ${expected}; ${fix}`);
  }

  #noteRaw(coordinate: string, { likeness, fix, isCertain }: RawValue, value: unknown, path: readonly string[]): void {
    const found = `${kindOf(value)} at ${placeOf(path)} ${likeness}; ${fix}`;
    if (isCertain) this.#note(coordinate, found);
    else this.#hints.set(coordinate, `${coordinate}: the record has ${found}`);
  }

  /** Returns the coordinate. */
  #note(coordinate: string, found: string): string {
    if (!this.#misfits.has(coordinate)) this.#misfits.set(coordinate, `${coordinate}: the record has ${found}`);
    return coordinate;
  }
}

function isShownBy(type: GraphQLLeafType, value: unknown): boolean {
  try {
    const serialized: unknown = type.serialize(value);
    return serialized !== undefined && serialized !== null;
  } catch {
    // Its message has the value.
    return false;
  }
}
