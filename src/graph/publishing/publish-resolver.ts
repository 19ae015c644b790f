import { getNullableType, isInputObjectType } from 'graphql';
import type { GraphQLField, GraphQLFieldResolver } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import { clientError } from '../../base/errors.ts';
import { nameOf } from '../../base/json/key-naming.ts';
import { valueAt } from '../../base/json/value-at.ts';
import { textOf } from '../compared-text.ts';
import { claimAt } from '../schema/claim-where.ts';
import type { Publication, RecordKey } from './publication.ts';
import { recordObject, recordValue } from './record-value.ts';

/** Longest value of a claim that becomes a header. */
const MAX_CLAIM_LENGTH = 256;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The resolver of a field with @kafkaPublish. Of a field whose only argument is an input object, the record is this object; else it is the
 * object of all arguments.
 */
export function publishResolver(
  publication: Publication,
  { args: parts }: GraphQLField<unknown, unknown>,
): GraphQLFieldResolver<unknown, unknown> {
  const { topic, key, keys, claims } = publication;
  const name = nameOf(keys);
  const [first, ...others] = parts;
  const whole = first && others.length === 0 && isInputObjectType(getNullableType(first.type)) ? first : undefined;
  return (_source, args: Arguments, context) => {
    const execution = context as ExecutionContext;
    const value = whole ? recordValue(whole.type, args[whole.name], name) : recordObject(parts, args, name);
    if (value === null) throw clientError('BAD_USER_INPUT', `The argument "${whole!.name}" must not be null`);
    const headers = Object.fromEntries(
      claims.map((claim) => [`claim-${claim}`, claimText(claim, execution.connection.claims)]),
    );
    return execution.publish(topic, { key: key && keyText(key, args), value: value as object, headers });
  };
}

/** null: the record has no key. */
function keyText({ path, type }: RecordKey, args: Arguments): string | null {
  const value = valueAt(args, path);
  if (value === undefined || value === null) return null;
  const text = textOf(type.serialize(value));
  if (text !== undefined) return text;
  throw clientError('BAD_USER_INPUT', `The value of "${path.join('.')}" must be a string, a number or a boolean`);
}

function claimText(claim: string, claims: ExecutionContext['connection']['claims']): string {
  const text = textOf(claimAt(claims, claim));
  if (text !== undefined && text.length <= MAX_CLAIM_LENGTH) return text;
  throw clientError('FORBIDDEN', `The claim "${claim}" is required`);
}
