import type { BackendInput } from './backend-settings.ts';
import type { SettingName, SettingNames } from './setting-names.ts';
import type { Variable } from './variable.ts';
import type { variables } from './variables.ts';

/** The values of all variables. */
export type SettingValues = {
  readonly [Name in keyof typeof variables]: (typeof variables)[Name] extends Variable<infer Value> ? Value : never;
};

/** A variable that looks like a setting and is none. */
export interface UnknownVariable {
  readonly message: string;
  /** True if a setting has nearly the same name, so that this is hardly a variable of another program. */
  readonly isNear: boolean;
  /** A setting of a former version that says something else than is in force. */
  readonly stopsStart?: true;
}

/** Settings as they are given: by an environment, or by the options of a program. */
export interface SettingsInput {
  /** A text is parsed; '' and undefined count as not set. */
  readonly values: { readonly [Name in SettingName]?: SettingValues[Name] | string | undefined };
  readonly secretFiles: ReadonlyMap<string, string>;
  readonly backends: readonly BackendInput[];
  readonly names: SettingNames;
  readonly unknownVariables: readonly UnknownVariable[];
  readonly isProduction: boolean;
  readonly nodeOptions: string;
  /** `Config.tracesEndpoint`. */
  readonly tracesEndpoint: string;
  /** `Config.process`. */
  readonly process: string | undefined;
}
