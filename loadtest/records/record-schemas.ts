import type { Schema } from 'avsc';

type Tree = Readonly<Record<string, unknown>>;

/** A schema of Avro for one record. Every other field may be null, as fields of real schemas may. */
export function avroSchemaOf(record: Tree): Schema {
  let names = 0;
  const typeOf = (value: unknown): unknown => {
    if (value === null) return 'null';
    if (Array.isArray(value)) return { type: 'array', items: value.length > 0 ? typeOf(value[0]) : 'string' };
    if (typeof value === 'object') return recordOf(value as Tree);
    if (typeof value === 'number') return Number.isInteger(value) ? 'long' : 'double';
    return typeof value;
  };
  const recordOf = (tree: Tree): object => ({
    type: 'record',
    name: `Record${names++}`,
    fields: Object.entries(tree).map(([name, value], i) => {
      const type = typeOf(value);
      return { name, type: i % 2 === 0 || type === 'null' ? [...new Set(['null', type])] : type };
    }),
  });
  return recordOf(record) as Schema;
}

/** A .proto file whose first message is the record. A field that is null is an optional string. */
export function protoSchemaOf(record: Tree): string {
  const messageOf = (name: string, tree: Tree): string => {
    const nested: string[] = [];
    const fields = Object.entries(tree).map(([key, value], i) => {
      const isList = Array.isArray(value);
      const item: unknown = isList ? (value as unknown[])[0] : value;
      const type = `Of_${key}`;
      if (typeof item === 'object' && item !== null) nested.push(messageOf(type, item as Tree));
      const rule = isList ? 'repeated ' : item === null ? 'optional ' : '';
      return `${rule}${scalarOf(item) ?? type} ${key} = ${i + 1};`;
    });
    return `message ${name} { ${nested.join(' ')} ${fields.join(' ')} }`;
  };
  return `syntax = "proto3"; ${messageOf('Record', record)}`;
}

/** undefined: an object. */
function scalarOf(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) return undefined;
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'double';
  return typeof value === 'boolean' ? 'bool' : 'string';
}
