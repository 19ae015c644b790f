import type { z } from 'zod';
import { variables } from '../variables.ts';
import { refusal } from './refusal.ts';

/** The values of all variables. */
export type Settings = { readonly [Name in keyof typeof variables]: z.output<(typeof variables)[Name]['schema']> };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Adds a line to `problems` for each variable that is refused; the settings are complete only without problems. */
export function parseSettings(environment: Environment, problems: string[]): Settings {
  const values: Record<string, unknown> = {};
  for (const [name, { schema, default: fallback, expects }] of Object.entries(variables)) {
    const raw = environment[name] || fallback;
    const result = schema.safeParse(raw);
    if (result.success) values[name] = result.data;
    else problems.push(refusal(name, raw, expects));
  }
  return values as Settings;
}
