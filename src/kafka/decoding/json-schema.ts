import type { CompileSchema, SchemaFields, SchemaReference } from './decoder.ts';
import { mergedFields, openFields } from './schema-fields.ts';
import { SchemaPlace } from './schema-place.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema, and the text in which its `$ref`s without a file lead somewhere. */
export interface Located {
  readonly schema: unknown;
  readonly file: unknown;
}

/** Schemas that are followed from one place to the keys there: references may lead in a circle. */
const MAX_FOLLOWED = 200;
/** Keywords with schemas that the value itself, or an item of it, meets. */
const APPLICATORS = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'items', 'prefixItems'];

/** For the fields only: records are JSON text, and take the path of records without a schema. */
export const compileJsonSchema: CompileSchema = (text, references, options) => {
  const file: unknown = JSON.parse(text);
  const decode = () => {
    throw new Error('a record with a JSON schema is converted as JSON');
  };
  return {
    fields: new JsonFields(references).of([{ schema: file, file }], SchemaPlace.root(options)) ?? {
      keys: [],
      at: () => undefined,
    },
    mayHaveOthers: true,
    decode,
    decodeKey: decode,
  };
};

/** Follows references between schemas. */
export class JsonSchemaFiles {
  readonly #files: ReadonlyMap<string, unknown>;

  constructor(references: readonly SchemaReference[]) {
    this.#files = new Map(references.map(({ name, text }) => [name, JSON.parse(text) as unknown]));
  }

  /** `#/$defs/Address`, `address.json`, `address.json#/$defs/Street` */
  follow(reference: string, within: unknown): Located {
    const [name = '', pointer = ''] = reference.split('#');
    const file = name === '' ? within : this.#files.get(name);
    let schema = file;
    for (const key of pointer.split('/').slice(1).map(unescaped)) {
      schema = isSchema(schema) && Object.hasOwn(schema, key) ? schema[key] : undefined;
    }
    return { schema, file };
  }
}

class JsonFields {
  readonly #files: JsonSchemaFiles;

  constructor(references: readonly SchemaReference[]) {
    this.#files = new JsonSchemaFiles(references);
  }

  /** @param schemas of the values at one place. undefined: the values are no objects */
  of(schemas: readonly Located[], place: SchemaPlace): SchemaFields | undefined {
    return mergedFields(this.#withApplied(schemas).map((located) => this.#ofOne(located, place)));
  }

  #ofOne({ schema, file }: { readonly schema: JsonSchema; readonly file: unknown }, place: SchemaPlace) {
    const properties = isSchema(schema['properties']) ? schema['properties'] : {};
    const keys = Object.keys(properties);
    const others = schema['additionalProperties'];
    // Most schemas allow further keys by not forbidding them; one that describes them, or describes no key, has keys that are data.
    if (isSchema(others) || (keys.length === 0 && (others === true || schema['type'] === 'object'))) {
      return openFields(() => this.of([{ schema: others, file }], place.at('')));
    }
    if (keys.length === 0) return undefined;
    const names = place.namesOf(keys);
    return {
      keys: names.filter((name) => name !== undefined),
      at: (key: string) => {
        const property = keys[names.indexOf(key)];
        return property === undefined ? undefined : this.of([{ schema: properties[property], file }], place.at(key));
      },
    };
  }

  /** The schemas with those that they refer to or apply. */
  #withApplied(schemas: readonly Located[]) {
    const all: { readonly schema: JsonSchema; readonly file: unknown }[] = [];
    const seen = new Set<unknown>();
    const next = [...schemas];
    for (let located = next.pop(); located && all.length < MAX_FOLLOWED; located = next.pop()) {
      const { schema, file } = located;
      if (!isSchema(schema) || seen.has(schema)) continue;
      seen.add(schema);
      all.push({ schema, file });
      if (typeof schema['$ref'] === 'string') next.push(this.#files.follow(schema['$ref'], file));
      for (const keyword of APPLICATORS) {
        next.push(...[schema[keyword]].flat().map((applied) => ({ schema: applied, file })));
      }
    }
    return all;
  }
}

function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
