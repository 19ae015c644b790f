import { isJsonObject, jsonKind } from '../../../base/json/json-object.ts';

/** What a function of a graph returned by mistake. The message has nothing of a record but names of columns. */
export class ChangeMistake extends TypeError {
  override readonly name = 'ChangeMistake';
}

const OPERATIONS: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'READ'];

/** What each member of a change must be; absent members are undefined. */
const MEMBERS: Readonly<Record<string, readonly [is: (value: unknown) => boolean, what: string]>> = {
  row: [(value) => value === null || isJsonObject(value), 'an object, or null'],
  before: [(value) => value === undefined || value === null || isJsonObject(value), 'an object, or null'],
  op: [(value) => value === undefined || OPERATIONS.includes(value), `one of ${OPERATIONS.join(', ')}`],
  sourceTimestamp: [(value) => value === undefined || Number.isFinite(value), 'a finite number of ms since 1970'],
  transaction: [(value) => value === undefined || typeof value === 'string', 'a string'],
  isSnapshot: [(value) => value === undefined || typeof value === 'boolean', 'a boolean'],
};

/** @throws ChangeMistake if the value is no change, or has what JSON has not */
export function checkChange(change: unknown): void {
  if (typeof change === 'object' && change !== null && 'then' in change) {
    Promise.resolve(change as PromiseLike<unknown>).catch(() => undefined);
    throw new ChangeMistake('returns a promise: it must return the change');
  }
  if (!isJsonObject(change)) throw new ChangeMistake('returns no object: it must return a change, or undefined');
  for (const [member, [is, what]] of Object.entries(MEMBERS)) {
    if (!is(change[member]))
      throw new ChangeMistake(`returns ${member}: ${kindOf(change[member])}; it must be ${what}`);
  }
  for (const member of ['row', 'before']) {
    for (const [column, value] of Object.entries(change[member] ?? {})) {
      const other = otherThanJson(value);
      if (other !== undefined)
        throw new ChangeMistake(
          `returns ${member} with ${other} in ${JSON.stringify(column)}; it must have values of JSON`,
        );
    }
  }
}

/** What JSON cannot have; undefined: nothing. Undefined members are left out. */
function otherThanJson(value: unknown): string | undefined {
  switch (typeof value) {
    case 'bigint':
    case 'function':
    case 'symbol':
      return kindOf(value);
    case 'number':
      return Number.isNaN(value) ? kindOf(value) : undefined;
    case 'object':
      for (const item of Object.values(value ?? {})) {
        const other = otherThanJson(item);
        if (other !== undefined) return other;
      }
      return value instanceof Map || value instanceof Set ? kindOf(value) : undefined;
    default:
      return undefined;
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof Map || value instanceof Set) return `a ${value.constructor.name}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'bigint' ? 'a BigInt' : jsonKind(value);
}
