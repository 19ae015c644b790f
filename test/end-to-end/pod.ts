import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePorts } from '../../deploy/port.ts';
import { startService } from '../../deploy/service.ts';
import type { Service } from '../../deploy/service.ts';

export interface Pod extends Service {
  /** `ws://host:port/graphql` */
  readonly url: string;
}

/** crier as a process of its own, as in production; ready when its readiness says so. `settings`: its environment. */
export async function startPod(t: TestContext, settings: Readonly<Record<string, string>>): Promise<Pod> {
  const [port, adminPort] = await freePorts(2);
  const environment = {
    HOST: '127.0.0.1',
    PORT: `${port}`,
    ADMIN_PORT: `${adminPort}`,
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const pod = await startService({
    name: `crier on port ${port}`,
    command: 'env',
    arguments: [
      ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      process.execPath,
      '--enable-source-maps',
      join(process.cwd(), 'dist', 'src', 'main.js'),
    ],
    mend: 'it comes with every Unix',
    isReady: () => answersReady(`http://127.0.0.1:${adminPort}/readyz`),
    timeoutMs: 60_000,
  });
  t.after(() => pod.stop());
  return { ...pod, url: `ws://127.0.0.1:${port}/graphql` };
}

async function answersReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
