import { isSchema, JsonSchemaFiles } from './json-schema.ts';
import type { JsonSchema, Located } from './json-schema.ts';
import { MergedTypes } from './merged-types.ts';
import { DATA, docOf, lastName, nullable, objectType, UNKNOWN } from './value-type.ts';
import type { DescribeSchema, FieldType, NamesOf, ObjectType, ValueType } from './value-type.ts';

/** References may lead in a circle. */
const MAX_FOLLOWED = 50;
const [MIN_INT, MAX_INT] = [-(2 ** 31), 2 ** 31 - 1];

const NOTES: Readonly<Record<string, string>> = {
  'date-time': 'an ISO 8601 time',
  date: 'a day of ISO 8601',
  time: 'a time of day of ISO 8601',
  duration: 'a duration of ISO 8601',
};

/** No producer is held to a JSON schema, and crier does not validate: each value may be null or absent. */
export const describeJsonSchema: DescribeSchema = (text, references, namesOf) => {
  const file: unknown = JSON.parse(text);
  return new JsonTypes(new JsonSchemaFiles(references), namesOf).of({ schema: file, file });
};

class JsonTypes {
  readonly #files: JsonSchemaFiles;
  readonly #namesOf: NamesOf;
  readonly #merged = new MergedTypes();
  /** By the schema: it may contain itself. */
  readonly #objects = new Map<unknown, ObjectType>();

  constructor(files: JsonSchemaFiles, namesOf: NamesOf) {
    this.#files = files;
    this.#namesOf = namesOf;
  }

  of(located: Located): ValueType {
    return nullable(this.#of(located, MAX_FOLLOWED));
  }

  #of({ schema, file }: Located, left: number): ValueType {
    if (!isSchema(schema) || left === 0) return UNKNOWN;
    const reference = schema['$ref'];
    if (typeof reference === 'string') return this.#of(this.#files.follow(reference, file), left - 1);
    const own = this.#own(schema, file);
    const all = applied(schema, ['allOf']).map((one) => this.#of({ schema: one, file }, left - 1));
    const alternatives = applied(schema, ['anyOf', 'oneOf'])
      .map((one) => ({ schema: one, file }))
      .filter((one) => !isNull(one.schema))
      .map((one) => this.#of(one, left - 1));
    const known = [own, ...all, ...(alternatives.length > 0 ? [this.#merged.of(alternatives)] : [])].filter(
      ({ kind }) => kind !== 'unknown',
    );
    return known.length === 0 ? UNKNOWN : this.#merged.of(known);
  }

  /** What the schema says without those that it applies. */
  #own(schema: JsonSchema, file: unknown): ValueType {
    const types = [schema['type']].flat().filter((type) => type !== 'null' && type !== undefined);
    if (types.length > 1) return this.#merged.of(types.map((type) => this.#own({ ...schema, type }, file)));
    const symbols = [schema['enum'] ?? []].flat().filter((symbol) => symbol !== null);
    if (symbols.length > 0 && symbols.every((symbol) => typeof symbol === 'string')) {
      const name = typeof schema['title'] === 'string' ? schema['title'] : '';
      return { kind: 'enum', isNullable: true, enum: { name, symbols } };
    }
    switch (types[0]) {
      case 'string':
        return { kind: 'text', isNullable: true, note: NOTES[String(schema['format'])] };
      case 'boolean':
        return { kind: 'boolean', isNullable: true };
      case 'number':
        return { kind: 'float', isNullable: true };
      case 'integer':
        return integerType(schema);
      case 'array': {
        const { items } = schema;
        return { kind: 'list', isNullable: true, items: this.of({ schema: items, file }) };
      }
      default:
        return isSchema(schema['properties']) || types[0] === 'object' ? this.#objectType(schema, file) : UNKNOWN;
    }
  }

  #objectType(schema: JsonSchema, file: unknown): ValueType {
    const { properties, additionalProperties: others, title, description } = schema;
    if (!isSchema(properties) || isSchema(others)) return hasAlternatives(schema) ? UNKNOWN : DATA;
    let object = this.#objects.get(schema);
    if (!object) {
      const keys = Object.keys(properties);
      object = objectType({ name: lastName(title), doc: docOf(description) }, () => {
        const names = this.#namesOf(keys);
        return keys.flatMap((key, i): readonly FieldType[] => {
          const name = names[i];
          const property = properties[key];
          const doc = isSchema(property) ? docOf(property['description']) : undefined;
          return name === undefined ? [] : [{ name, doc, type: this.of({ schema: property, file }) }];
        });
      });
      this.#objects.set(schema, object);
    }
    return { kind: 'object', isNullable: true, object };
  }
}

/** An object whose properties are in the schemas that it applies. */
function hasAlternatives(schema: JsonSchema): boolean {
  return applied(schema, ['allOf', 'anyOf', 'oneOf']).length > 0;
}

function applied(schema: JsonSchema, keywords: readonly string[]): readonly unknown[] {
  return keywords.flatMap((keyword) => (Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : []));
}

function isNull(schema: unknown): boolean {
  return isSchema(schema) && schema['type'] === 'null';
}

/** An integer has any number of digits, unless the schema bounds it. `connect.type` is of Kafka Connect's JsonSchemaConverter. */
function integerType(schema: JsonSchema): ValueType {
  const { format, minimum, maximum, 'connect.type': connectType } = schema;
  if (format === 'int64' || connectType === 'int64') return { kind: 'long', isNullable: true };
  const isBounded =
    typeof minimum === 'number' && typeof maximum === 'number' && minimum >= MIN_INT && maximum <= MAX_INT;
  const isInt = isBounded || format === 'int32' || /^int(?:8|16|32)$/.test(String(connectType));
  return isInt ? { kind: 'int', isNullable: true } : UNKNOWN;
}
