import { settingRows } from '../../src/config/setting-rows.ts';

/** This environment without the settings of crier itself: what a shell carries must not decide what is tested. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const settings = new Set(['NODE_ENV', ...settingRows().map(({ name }) => name)]);
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !settings.has(name) && !name.startsWith('BACKEND_')),
  );
}
