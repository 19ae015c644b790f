import assert from 'node:assert/strict';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/base/errors.ts';

/** The message of the ConfigError with which an environment is refused. */
export function configRefusal(environment: Readonly<Record<string, string>>): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  throw new Error('the configuration was not refused');
}
