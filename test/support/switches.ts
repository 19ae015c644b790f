import { readConfig } from '../../src/config/config.ts';
import type { Config } from '../../src/config/config.ts';
import { removedSettings } from '../../src/config/removed-settings.ts';

/**
 * The techniques that the run turns off (`DISABLE=sharing npm test`), as an environment variable of a server. A test that promises what a
 * technique does, such as the number of executions, sets DISABLE itself.
 */
export function switchSettings(): Record<string, string> {
  const { DISABLE = '' } = process.env;
  return DISABLE === '' ? {} : { DISABLE };
}

/** The configuration of a server that a test starts. */
export function testConfig(settings: Readonly<Record<string, string>>): Config {
  return limitedConfig({ DRAIN_DELAY_MS: '0', DRAIN_SPREAD_MS: '0', ...switchSettings(), ...settings });
}

/** The configuration of an environment, in which a test may also set limits that are no settings. */
export function limitedConfig(environment: Readonly<Record<string, string>>): Config {
  const [settings, limits] = [false, true].map((isLimit) =>
    Object.entries(environment).filter(([name]) => removedSettings.has(name) === isLimit),
  ) as [[string, string][], [string, string][]];
  return {
    ...readConfig(Object.fromEntries(settings)),
    ...Object.fromEntries(limits.map(([name, value]) => [name, Number(value)])),
  };
}

/** The techniques of this run, for parts that a test creates without a configuration. */
export const switches: Pick<Config, 'SHARING' | 'PROJECTION' | 'WRITE_BATCHING' | 'AST_LOCATIONS'> = testConfig({});
