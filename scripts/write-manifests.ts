import { writeManifests } from './render-manifests.ts';

/** `npm run deploy:manifests` */
await writeManifests();
