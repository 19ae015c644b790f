import { readConfig } from '../../src/config/config.ts';
import type { Config } from '../../src/config/config.ts';
import { removedSettings } from '../../src/config/removed-settings.ts';

/**
 * Settings that turn one technique on or off. A test takes them from the environment of the run (`SHARING=off npm test`), except those
 * that it sets itself: a test that promises what a technique does, such as the number of executions, sets that technique on.
 */
const SWITCHES = ['SHARING', 'PROJECTION', 'KEY_REWRITER', 'WRITE_BATCHING', 'AST_LOCATIONS'] as const;

/** The switches that the environment sets, as environment variables of a server. */
export function switchSettings(): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const name of SWITCHES) {
    const value = process.env[name];
    if (value) settings[name] = value;
  }
  return settings;
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

/** The switches of this run, for parts that a test creates without a configuration. */
export const switches: Pick<Config, (typeof SWITCHES)[number]> = testConfig({});
