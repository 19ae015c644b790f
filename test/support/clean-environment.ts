import { variables } from '../../src/variables.ts';

/** This environment without the settings of crier itself: what a shell carries must not decide what is tested. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !(name in variables) && !name.startsWith('BACKEND_') && name !== 'NODE_ENV',
    ),
  );
}
