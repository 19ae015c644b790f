/** Of JSON: strings, numbers and words, and single characters between them. Leaves spaces out. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/** The names of an object's members, each when it is asked for. @param json text of an object */
export function* memberNames(json: string): Generator<string> {
  let level = 0;
  let former = '';
  for (const [token] of json.matchAll(TOKENS)) {
    if (level === 1 && token === ':') yield JSON.parse(former) as string;
    level += levelsOf(token);
    former = token;
  }
}

/**
 * The text of the value at a path, without spaces: as JSON.stringify prints it, except that integers keep all their digits and members their
 * order. undefined: there is no value.
 * @param json valid JSON
 */
export function compactTextAt(json: string, path: readonly string[]): string | undefined {
  let tokens: readonly string[] | undefined = json.match(TOKENS) ?? [];
  for (const name of path) tokens &&= memberOf(tokens, name);
  return tokens?.join('');
}

/** The tokens of a member of an object; of several with one name, of the last. */
function memberOf(tokens: readonly string[], name: string): readonly string[] | undefined {
  if (tokens[0] !== '{') return undefined;
  let found: readonly string[] | undefined;
  let level = 0;
  /** Of the member's value; 0: there is none yet. */
  let start = 0;
  tokens.forEach((token, at) => {
    if (level === 1 && start > 0 && (token === ',' || token === '}') && JSON.parse(tokens[start - 2]!) === name)
      found = tokens.slice(start, at);
    if (level === 1 && token === ':') start = at + 1;
    level += levelsOf(token);
  });
  return found;
}

/** Levels of objects and arrays that a token begins. */
function levelsOf(token: string): number {
  if (token === '{' || token === '[') return 1;
  return token === '}' || token === ']' ? -1 : 0;
}
