import { channelOfTemplate } from './channel-template.ts';
import type { ChannelTemplate } from './channel-template.ts';

/** A word of a channel's name. An argument's value is one word, because it holds no separator. */
type Word = { readonly text: string } | { readonly arg: string };

/**
 * A channel that two templates can both name though they are not alike, such as `room.{id}` and `room.lobby`: whoever may follow the one
 * would receive what is published for the other. undefined: there is none. Templates that differ only in the names of arguments are
 * alike: two fields may read one channel.
 *
 * @param separators of all templates
 */
export function overlapOf(a: ChannelTemplate, b: ChannelTemplate, separators: string): string | undefined {
  const [left, right] = [wordsOf(a, separators), wordsOf(b, separators)];
  if (left.length !== right.length) return undefined;
  const values = new Map<string, string>();
  let isAlike = true;
  for (const [index, word] of left.entries()) {
    const other = right[index]!;
    if ('arg' in word && 'arg' in other) continue;
    if ('text' in word && 'text' in other) {
      if (word.text !== other.text) return undefined;
      continue;
    }
    const text = 'text' in word ? word.text : (other as { text: string }).text;
    // No value is empty, or a separator.
    if (text === '' || separators.includes(text)) return undefined;
    isAlike = false;
    if ('arg' in word) values.set(word.arg, text);
  }
  return isAlike ? undefined : channelOfTemplate(a, (arg) => values.get(arg) ?? `{${arg}}`);
}

/** Words and separators, in order: both must agree. */
function wordsOf({ parts }: ChannelTemplate, separators: string): Word[] {
  const words: Word[] = [{ text: '' }];
  for (const part of parts) {
    if ('arg' in part) {
      // It stands between separators, so the word is empty so far.
      words[words.length - 1] = part;
      continue;
    }
    for (const character of part.text) {
      const last = words.at(-1)!;
      if (separators.includes(character)) words.push({ text: character }, { text: '' });
      else words[words.length - 1] = { text: `${'text' in last ? last.text : ''}${character}` };
    }
  }
  return words;
}
