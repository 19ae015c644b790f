import { backendVariable } from './backend-settings.ts';
import type { BackendSuffix } from './backend-settings.ts';
import { variables } from './variables.ts';

export type SettingName = keyof typeof variables;

/** What messages call the settings: `KAFKA_BROKERS` in an environment, `kafkaBrokers` in a program. */
export type SettingNames = Readonly<Record<SettingName, string>> & {
  /** @param backend its name in the graph, or its key in `Config.backends` */
  backend(backend: string, suffix: BackendSuffix): string;
};

export function settingNames(nameOf: (setting: SettingName) => string, backend: SettingNames['backend']): SettingNames {
  const settings = Object.keys(variables) as SettingName[];
  const names = Object.fromEntries(settings.map((setting) => [setting, nameOf(setting)]));
  return { ...(names as Record<SettingName, string>), backend };
}

export const ENVIRONMENT_NAMES: SettingNames = settingNames(
  (setting) => setting,
  (backend, suffix) => `BACKEND_${backendVariable(backend)}_${suffix}`,
);
