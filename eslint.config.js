import tseslint from 'typescript-eslint';

export default tseslint.config(
  // tsconfig.json leaves these out: src/http/graphiql runs in the browser, and examples import packages that are not installed here.
  {
    ignores: [
      'dist',
      '.stack',
      'node_modules',
      '**/fixtures/**',
      'examples/express',
      'examples/fastify',
      'src/http/graphiql',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'error',
    },
  },
  {
    // node:test's describe() and it() return promises that the runner awaits itself.
    files: ['test/**/*.ts', 'plugins/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['describe', 'it', 'test', 'suite'] },
          ],
        },
      ],
    },
  },
);
