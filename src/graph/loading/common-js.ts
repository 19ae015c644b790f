import { GraphError } from '../../base/errors.ts';
import { exampleExport } from '../schema/resolvers.ts';
import { buildGraphSchema } from '../schema/schema.ts';

/** The message of V8 for a variable that only modules of CommonJS have. */
const COMMON_JS = /\b(module|exports|require|__dirname|__filename) is not defined\b[^;]*/;

/** What the modules export, by their names; of resolvers it depends on the schema. */
const EXPORTS: Readonly<Record<string, string>> = {
  context: 'export const backends = [ … ]',
  samples: 'export function* records() { … }',
  formats: 'export const CBOR = …',
  envelopes: 'export const MAXWELL = …',
};

/** Instead of what is no export. */
const FIXES: Readonly<Record<string, string>> = {
  require: 'write import … from instead of require()',
  __dirname: 'write import.meta.dirname',
  __filename: 'write import.meta.filename',
};

/**
 * The error of a graph's module that is written as CommonJS, with how it is written; undefined for every other error.
 * @param error of the import of the module `name`
 * @param sdl the graph's schema, from which the example has a type
 */
export function commonJsProblem(error: unknown, name: string, sdl: string): GraphError | undefined {
  if (!(error instanceof GraphError)) return undefined;
  const [message, variable] = COMMON_JS.exec(error.message) ?? [];
  if (message === undefined || variable === undefined) return undefined;
  const example = () => EXPORTS[name] ?? exampleExport(buildGraphSchema(sdl, 'schema.graphql').schema);
  const fix = FIXES[variable] ?? `write ${example()} instead`;
  const what = variable === 'module' ? 'module.exports' : variable;
  const text = error.message.replace(message, `${what} is of CommonJS, and modules of a graph are ES modules; ${fix}`);
  return new GraphError(text, { cause: error });
}
