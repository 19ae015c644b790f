import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Release } from './release.ts';

/** What is published is a commit that has the version's tag. */
export async function checkout(release: Release): Promise<string> {
  const commit = await git('rev-parse', '--short=12', 'HEAD');
  const changed = await git('status', '--porcelain', '--untracked-files=no');
  const tags = (await git('tag', '--points-at', 'HEAD')).split('\n');
  const tag = `v${release.version}`;
  if (changed !== '') release.leaveToOwner(`files have changed since the commit ${commit}: commit them`);
  if (!tags.includes(tag))
    release.leaveToOwner(
      `the commit has no tag ${tag}: \`npm version <version>\` makes a commit and its tag; push both`,
    );
  return commit;
}

async function git(...words: string[]): Promise<string> {
  return (await promisify(execFile)('git', words)).stdout.trim();
}
