/** The beginning of a string, a number or a word, or a single character between them. */
const TOKEN = /["{}[\],:]|[^\s"{}[\],:]+/g;

/** The names of an object's members, each when it is asked for. @param json text of an object */
export function* memberNames(json: string): Generator<string> {
  let level = 0;
  let former = '';
  for (const token of tokensOf(json)) {
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
  let tokens: readonly string[] | undefined = [...tokensOf(json)];
  for (const name of path) tokens &&= memberOf(tokens, name);
  return tokens?.join('');
}

/** The tokens of JSON. Leaves spaces out. */
function* tokensOf(json: string): Generator<string> {
  for (let at = 0; ;) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(json);
    if (!found) return;
    const [token] = found;
    at = token === '"' ? endOfString(json, found.index) : found.index + token.length;
    yield token === '"' ? json.slice(found.index, at) : token;
  }
}

/** No regular expression: millions of escapes overflow its stack. @param start of the opening quote */
function endOfString(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let escape = quote;
    while (json[escape - 1] === '\\') escape--;
    if ((quote - escape) % 2 === 0) return quote + 1;
  }
  return json.length;
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
