import cluster from 'node:cluster';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { Members } from '../../../src/ops/processes/members.ts';
import type { Member, MembersOptions } from '../../../src/ops/processes/members.ts';

export type Behaviour = 'serve' | 'crash' | 'refuse' | 'wait';

/** Two gateways, each a real process (small-member.ts) that ends with the test. */
export function membersOf(
  t: TestContext,
  { behaviours, ...options }: Partial<MembersOptions> & { readonly behaviours: (member: string) => Behaviour },
): Members {
  cluster.setupPrimary({ exec: join(import.meta.dirname, 'small-member.js'), args: [] });
  const members = new Members({
    members: [
      { name: 'gateway-1', role: 'gateway' },
      { name: 'gateway-2', role: 'gateway' },
    ],
    environment: ({ name }) => ({ BEHAVIOUR: behaviours(name) }),
    token: '',
    log: pino({ level: 'silent' }),
    onEnd: () => undefined,
    onLost: () => undefined,
    ...options,
  });
  t.after(async () => {
    for (const { process } of members.all) process?.kill();
    await members.close().catch(() => undefined);
  });
  return members;
}

export function memberOf(members: Members, name: string): Member {
  return members.all.find((member) => member.name === name)!;
}

/** Sends a signal of the operating system. */
export function signal(member: Member, name: NodeJS.Signals): void {
  process.kill(member.process!.pid!, name);
}
