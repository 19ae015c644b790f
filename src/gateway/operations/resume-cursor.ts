/** `extensions.resume.cursor` of a subscribe message; null if `resume` has no cursor, undefined without `resume`. */
export function cursorOf(extensions: Readonly<Record<string, unknown>> | null | undefined): unknown {
  const resume = extensions?.['resume'];
  if (typeof resume !== 'object' || resume === null) return undefined;
  return 'cursor' in resume ? resume.cursor : null;
}
