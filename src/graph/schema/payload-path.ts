import {
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import type { GraphQLField, GraphQLOutputType, GraphQLSchema } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';

/**
 * Reports a path with an empty segment.
 * @param what names the path in the problem
 */
export function isPath(path: string, what: string, problems: string[]): boolean {
  if (!path.split('.').includes('')) return true;
  problems.push(`${what} ${JSON.stringify(path)} has an empty segment; write keys separated by single dots`);
  return false;
}

/**
 * Reports a matched path that cannot lead to a value: it ends above the payload, or the field's type has no value there. A path
 * outside `payload` is not checked: only the field's value has a type.
 *
 * @param mayEndAtList true: it may lead to a list of scalars
 */
export function checkPath(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  path: string,
  payload: readonly string[],
  problems: string[],
  mayEndAtList = false,
): void {
  const segments = path.split('.');
  if (segments.length < payload.length && segments.every((segment, index) => segment === payload[index])) {
    problems.push(
      `path "${path}" ends at an object, the one that holds the payload "${payload.join('.')}"; extend it to a value`,
    );
  }
  if (payload.some((segment, index) => segment !== segments[index])) return;
  const problem = walk(schema, field.type, segments, payload.length, mayEndAtList);
  if (problem) problems.push(`path "${path}" ${problem}`);
}

/** Why `segments` from `index` on do not lead from `type` to a value; undefined where they do. */
function walk(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  segments: readonly string[],
  index: number,
  mayEndAtList: boolean,
): string | undefined {
  if (isNonNullType(type)) return walk(schema, type.ofType, segments, index, mayEndAtList);
  const rest = segments.slice(index);
  if (isListType(type) && mayEndAtList && rest.length === 0 && isLeafType(getNullableType(type.ofType)))
    return undefined;
  if (isListType(type)) {
    return `${rest.length === 0 ? 'ends at' : 'goes through'} a list, which has no single value; match a value outside of it`;
  }
  if (isLeafType(type)) {
    const mayBeObject = isScalarType(type) && !isSpecifiedScalarType(type);
    return rest.length === 0 || mayBeObject
      ? undefined
      : `continues after ${type.name}, which has no fields; end it at "${segments[index - 1] ?? ''}"`;
  }
  const next = rest[0];
  if (next === undefined) return `ends at an object (${type.name}); extend it to one of its fields`;
  if (next === '__typename') return rest.length === 1 ? undefined : 'continues after __typename; end it there';
  // GraphQL reserves such names, so no type says what the value is.
  if (next.startsWith('__')) return undefined;
  const types = isObjectType(type) ? [type] : [...schema.getPossibleTypes(type), ...(isUnionType(type) ? [] : [type])];
  const fields = types.flatMap((member) => member.getFields()[next] ?? []);
  if (fields.length === 0) {
    const names = types.flatMap((member) => Object.keys(member.getFields()));
    const fix =
      (next.includes('[') && '; a path goes through no list, so it has no index: match a value outside of it') ||
      didYouMean(next, names) ||
      `; its fields are: ${[...new Set(names)].join(', ')}; correct the path, or add the field`;
    return `leads to no field, which a path inside the payload must: ${type.name} has no field "${next}"${fix}`;
  }
  // Possible as soon as one of the types that the value may have makes it possible.
  const verdicts = fields.map((candidate) => walk(schema, candidate.type, segments, index + 1, mayEndAtList));
  return verdicts.includes(undefined) ? undefined : verdicts[0];
}
