import { isJsonObject, jsonKind } from '../../base/json/json-object.ts';

/** `extensions.resume.cursor` of a subscribe message; null if `resume` has no cursor, undefined without `resume`. */
export function cursorOf(extensions: Readonly<Record<string, unknown>> | null | undefined): unknown {
  const resume = extensions?.['resume'];
  if (typeof resume !== 'object' || resume === null) return undefined;
  return 'cursor' in resume ? resume.cursor : null;
}

/** Why `extensions.resume` is none; undefined: it is one, or absent. */
export function resumeProblem(extensions: Readonly<Record<string, unknown>> | null | undefined): string | undefined {
  const resume = extensions?.['resume'];
  if (resume == null || isJsonObject(resume)) return undefined;
  return `extensions.resume must be an object such as { "cursor": null }, got ${jsonKind(resume)}`;
}
