import { readFileSync, writeFileSync } from 'node:fs';
import { withSettings } from './configuration-page.ts';

/** `npm run docs:configuration` */
const PAGE = 'docs/reference/configuration.md';
writeFileSync(PAGE, withSettings(readFileSync(PAGE, 'utf8')));
