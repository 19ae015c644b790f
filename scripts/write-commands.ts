import { readFileSync, writeFileSync } from 'node:fs';
import { withCommands } from './commands-page.ts';

/** `npm run docs:commands` */
const PAGE = 'docs/reference/commands.md';
writeFileSync(PAGE, await withCommands(readFileSync(PAGE, 'utf8')));
