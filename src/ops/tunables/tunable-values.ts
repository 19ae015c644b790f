import { jsonKind } from '../../base/json/json-object.ts';
import type { Config } from '../../config/config.ts';
import { refusal } from '../../config/setting-refusal.ts';
import { tunableNames, variables } from '../../config/variables.ts';
import type { TunableName } from '../../config/variables.ts';
import type { TunableValues } from './tunables-registry.ts';

type TunableValue = TunableValues[TunableName];

/** The values that the environment gives. */
export function pickTunables(config: Config): TunableValues {
  return Object.fromEntries(tunableNames.map((name) => [name, config[name]])) as TunableValues;
}

/**
 * A value of JSON, checked as the environment variable is checked. A text says why it is refused.
 * @param fallback has the type that is expected
 */
export function parseTunable(
  name: TunableName,
  given: unknown,
  fallback: TunableValue,
): { readonly value: TunableValue } | string {
  const { parse, expects } = variables[name];
  if (typeof given !== typeof fallback) {
    return `${name}: expected ${expects}, as a JSON ${typeof fallback}; got ${jsonKind(given)}`;
  }
  const text = String(given);
  const parsed = parse(text) as { readonly value: TunableValue } | undefined;
  return parsed ?? refusal(name, text.slice(0, 200), expects);
}
