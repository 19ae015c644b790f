/**
 * A function of generated source, which V8 compiles like one of a file. Whatever comes from a schema must be in the source as a JSON
 * string or as a number: a registry's names may contain anything.
 */
export function generatedFunction<Of>(parameters: Readonly<Record<string, unknown>>, source: string): Of {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const create = new Function(...Object.keys(parameters), source) as (...values: unknown[]) => Of;
  return create(...Object.values(parameters));
}
