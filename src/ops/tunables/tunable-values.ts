import type { Config } from '../../config/config.ts';
import { tunableNames } from '../../config/variables.ts';

export type TunableName = (typeof tunableNames)[number];

export type TunableValues = { [Name in TunableName]: Config[Name] };

/** The values that the environment gives. */
export function pickTunables(config: Config): TunableValues {
  return Object.fromEntries(tunableNames.map((name) => [name, config[name]])) as TunableValues;
}
