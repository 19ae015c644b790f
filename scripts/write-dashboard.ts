import { writeFileSync } from 'node:fs';
import { dashboard } from './dashboard.ts';

/** `npm run deploy:dashboard` */
writeFileSync('deploy/monitoring/dashboard.json', dashboard());
