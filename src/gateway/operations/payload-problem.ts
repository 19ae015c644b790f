import { isJsonObject, jsonKind } from '../../base/json/json-object.ts';

/** Parts of an operation as clients send it, in the order in which graphql-ws looks at them; `query` is needed. */
const PROPERTIES: readonly (readonly [name: string, kind: 'string' | 'object'])[] = [
  ['query', 'string'],
  ['variables', 'object'],
  ['operationName', 'string'],
  ['extensions', 'object'],
];

/** Which part of an operation has another type than it must have, and which; undefined: none. It shows no value. */
export function payloadProblem(payload: Readonly<Record<string, unknown>>): string | undefined {
  const bad = PROPERTIES.find(([name, kind]) => {
    const value = payload[name];
    if (value == null) return name === 'query';
    return kind === 'string' ? typeof value !== 'string' : !isJsonObject(value);
  });
  if (!bad) return undefined;
  const [name, kind] = bad;
  return `${name} must be ${kind === 'string' ? 'a string' : 'an object'}, got ${jsonKind(payload[name])}`;
}
