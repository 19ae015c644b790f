import type { Config } from '../../config/config.ts';
import type { TunableName } from '../../config/variables.ts';

export type TunableValues = { [Name in TunableName]: Config[Name] };

/** Where each room registers what settings change in it while the server runs. */
export interface TunablesRegistry {
  /** Read at each use: they are replaced in place. */
  readonly values: Readonly<TunableValues>;
  /** Calls `apply` with the value now and after each change. */
  bind<Name extends TunableName>(name: Name, apply: (value: TunableValues[Name]) => void): void;
}
