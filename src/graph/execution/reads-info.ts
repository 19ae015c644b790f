type Resolver = (...parameters: never[]) => unknown;

/** Up to three names or patterns without defaults, of a function, an arrow function or a method. */
const PLAIN_PARAMETERS = /^(?:async\b)?\s*(?:function\b)?\s*\*?\s*[\w$]*\s*\([\w$\s,{}:]*\)\s*(?:=>|\{)/;
const ONE_PARAMETER = /^(?:async\s)?\s*[\w$]+\s*=>/;
/** Also what hides a name from a search of the text, and the text of a bound or wrapped function. */
const OTHER_WAYS = /\barguments\b|\beval\b|\\u|\[native code\]/;

/** False if the source text of a resolver shows that it cannot read its fourth argument, `info`. */
export function mayReadInfo(resolve: Resolver): boolean {
  if (resolve.length > 3) return true;
  const text = Function.prototype.toString.call(resolve);
  return OTHER_WAYS.test(text) || !(PLAIN_PARAMETERS.test(text) || ONE_PARAMETER.test(text));
}
