/** Of what values of a scalar are in payloads and results. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/(Date|Time|DateTime|Timestamp|Duration|TimeZone)$/, 'string'],
  [/(UUID|GUID|URL|URI|Email|EmailAddress|PhoneNumber)$/i, 'string'],
  // A number that has lost no digits, else text.
  [/(BigInt|BigDecimal|Decimal|Long|Int64|Money)$/i, 'string | number'],
  [/^JSONObject$/i, 'Readonly<Record<string, unknown>>'],
];

/** The TypeScript types of scalars, as `{ input, output }`: what arguments are, and what payloads have and resolvers return. */
export function scalarTypes(names: readonly string[]): Record<string, { input: string; output: string }> {
  const custom = names.flatMap((name) => {
    // Crier's own: arguments are the text of their digits.
    if (name === 'BigInt' || name === 'Long')
      return [[name, { input: 'string', output: 'string | number | bigint' }] as const];
    const [, type] = NAMED.find(([pattern]) => pattern.test(name)) ?? [];
    return type === undefined ? [] : [[name, { input: type, output: type }] as const];
  });
  // Records may have ids that are numbers; arguments are texts.
  return { ID: { input: 'string', output: 'string | number' }, ...Object.fromEntries(custom) };
}
