import tseslint from 'typescript-eslint';

export default tseslint.config(
  // No tsconfig.json has these: a script whose packages have no types of React, and examples whose packages are not installed here.
  {
    ignores: [
      'dist',
      '.stack',
      'node_modules',
      '**/fixtures/**',
      'examples/express',
      'examples/fastify',
      'examples/*/page',
      'pages/graphiql/graphiql.js',
      'site',
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
    files: ['test/**/*.ts', 'plugins/**/*.ts', 'examples/**/*.test.js'],
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
