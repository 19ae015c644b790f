import { isLeafType, isNonNullType } from 'graphql';
import type { GraphQLField } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';

/** A part of a channel's name: text, or the value of an argument. */
export type TemplatePart = { readonly text: string } | { readonly arg: string };

/** The `channel` of an @redis directive. */
export interface ChannelTemplate {
  /** As written. */
  readonly source: string;
  /** Text and arguments alternate. The first part is a text. */
  readonly parts: readonly TemplatePart[];
  /** The characters beside arguments, each once. */
  readonly separators: string;
}

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/;
/** ASCII punctuation without braces. */
const SEPARATOR = /^[!-/:-@[-`|~]$/;

/**
 * Reads the `channel` of an @redis. Each argument stands between separators, so that its value is one word of the name, and the name has a
 * text before the first argument, so that no value leads to channels of others.
 */
export function readTemplate(
  source: string,
  field: GraphQLField<unknown, unknown>,
  problems: string[],
): ChannelTemplate | undefined {
  const before = problems.length;
  const show = JSON.stringify(source);
  if (source === '') problems.push('channel is empty; name a Redis channel, such as "typing.{room}"');
  // With a group in it, `split` puts the names of arguments at the odd indexes.
  const pieces = source.split(PLACEHOLDER);
  const separators = new Set<string>();
  pieces.forEach((piece, index) => {
    if (index % 2 === 0) {
      if (/[{}]/.test(piece)) problems.push(`channel ${show} has a brace that belongs to no {argument}`);
      if (/[\s\u0000-\u001f\u007f]/.test(piece)) problems.push(`channel ${show} has a space or a control character`);
      return;
    }
    checkArgument(piece, field, problems);
    const preceding = pieces[index - 1]!.at(-1) ?? '';
    const isLast = index === pieces.length - 2 && pieces[index + 1] === '';
    const following = isLast ? preceding : (pieces[index + 1]!.at(0) ?? '');
    if (SEPARATOR.test(preceding) && SEPARATOR.test(following)) separators.add(preceding).add(following);
    else {
      problems.push(
        `channel ${show}: {${piece}} must stand between separators such as "." or ":", after a text; for example "${field.name}.{${piece}}"`,
      );
    }
  });
  if (problems.length > before) return undefined;
  const parts = pieces.map((piece, index) => (index % 2 === 0 ? { text: piece } : { arg: piece }));
  return {
    source,
    parts: parts.filter((part) => !('text' in part) || part.text !== ''),
    separators: [...separators].join(''),
  };
}

/** The name of a template's channel. @param valueOf the text of an argument's value */
export function channelOfTemplate({ parts }: ChannelTemplate, valueOf: (arg: string) => string): string {
  return parts.map((part) => ('text' in part ? part.text : valueOf(part.arg))).join('');
}

/** The arguments that a template names. */
export function argumentsOf({ parts }: ChannelTemplate): string[] {
  return parts.flatMap((part) => ('arg' in part ? part.arg : []));
}

function checkArgument(name: string, field: GraphQLField<unknown, unknown>, problems: string[]): void {
  const argument = field.args.find((candidate) => candidate.name === name);
  if (!argument) {
    const names = field.args.map((candidate) => candidate.name);
    problems.push(`channel names the argument "${name}", which the field does not have${didYouMean(name, names)}`);
  } else if (!isNonNullType(argument.type)) {
    problems.push(
      `channel names the argument "${name}", which may be left out; make it non-null: ${name}: ${String(argument.type)}!`,
    );
  } else if (!isLeafType(argument.type.ofType)) {
    problems.push(
      `channel names the argument "${name}" of type ${String(argument.type)}, which is no single value; use a scalar or an enum`,
    );
  }
}
