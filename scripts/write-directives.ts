import { writeFileSync } from 'node:fs';
import { directivesPage } from './directives-page.ts';

writeFileSync('directives.graphql', directivesPage());
