import { clientError } from '../base/errors.ts';
import { refused } from './refusal.ts';
import type { Refusal } from './refusal.ts';

/** What a request may be, beside its document. */
export interface RequestLimits {
  /** Of its variables, as JSON. */
  readonly maxVariableBytes: number;
  /** Objects and lists in each other, in the value of a variable. */
  readonly maxVariableDepth: number;
  /** Values of its variables, with those in objects and lists. */
  readonly maxVariableValues: number;
  /** Of the name of the channel that it subscribes to. */
  readonly maxChannelBytes: number;
  /** That it subscribes to. */
  readonly maxChannels: number;
}

/** Refuses variables that exceed the limits. Takes linear time, and data of any depth. */
export function refuseVariables(
  variables: Readonly<Record<string, unknown>>,
  { maxVariableBytes, maxVariableDepth, maxVariableValues }: RequestLimits,
): Refusal | undefined {
  let values = 0;
  let level: object[] = [variables];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxVariableDepth) return badInput(`The variables are nested more than ${maxVariableDepth} levels deep`);
    const below: object[] = [];
    for (const container of level) {
      const members = Object.values(container) as unknown[];
      values += members.length;
      if (values > maxVariableValues)
        return badInput(
          `The variables have more than ${maxVariableValues} values (in proportion to MAX_MESSAGE_BYTES)`,
        );
      for (const member of members) if (typeof member === 'object' && member !== null) below.push(member);
    }
    level = below;
  }
  if (Buffer.byteLength(JSON.stringify(variables)) <= maxVariableBytes) return undefined;
  return badInput(`The variables are longer than ${maxVariableBytes} bytes (a quarter of MAX_MESSAGE_BYTES)`);
}

/** Refuses channels of which one has a name that is too long. */
export function refuseChannels(
  channels: readonly string[],
  { maxChannelBytes }: Pick<RequestLimits, 'maxChannelBytes'>,
): Refusal | undefined {
  if (channels.every((channel) => Buffer.byteLength(channel) <= maxChannelBytes)) return undefined;
  const limit = `with its topic, a channel's name may have ${maxChannelBytes} bytes (a sixteenth of MAX_MESSAGE_BYTES)`;
  return badInput(`The arguments that choose the events are too long: ${limit}`);
}

/** The refusal of a request that asks for something that it may not. */
export function badInput(message: string): Refusal {
  return refused([clientError('BAD_USER_INPUT', message).toJSON()]);
}
