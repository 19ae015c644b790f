import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

/** Where Linux shows its control groups. */
const CGROUP_ROOT = '/sys/fs/cgroup';
const OWN_GROUPS = '/proc/self/cgroup';

/**
 * Whole cores that this process may use, at least 1: those of its CPU mask, and no more than the quota of its container, which Node 20's
 * `availableParallelism` does not know.
 */
export function availableCores(quota = cpuQuota(), cores = availableParallelism()): number {
  return Math.max(1, Math.floor(Math.min(cores, quota)));
}

/** Least quota of this process's control groups, in cores; Infinity: none. @param root the folder of the groups */
export function cpuQuota(root = CGROUP_ROOT, ownGroups = readText(OWN_GROUPS)): number {
  const quotas = (ownGroups ?? '').split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    if (controllers === '') return foldersOf(root, path).map(quotaOfVersion2);
    if (!controllers.split(',').includes('cpu')) return [];
    return [controllers, 'cpu'].flatMap((name) => foldersOf(join(root, name), path)).map(quotaOfVersion1);
  });
  return Math.min(Infinity, ...quotas);
}

/** The group's folder and those above it: each may have a quota. In a container, the group may be seen only as the root. */
function foldersOf(root: string, path: string): string[] {
  const folders = [root];
  for (let one = path; one !== '/'; one = dirname(one)) folders.push(join(root, one));
  return folders;
}

/** `cpu.max` is `<quota> <period>` in µs, or `max <period>`: https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files */
function quotaOfVersion2(folder: string): number {
  const [quota, period] = (readText(join(folder, 'cpu.max')) ?? '').trim().split(' ');
  return coresOf(Number(quota), Number(period));
}

/** A quota of -1 is none: https://docs.kernel.org/scheduler/sched-bwc.html */
function quotaOfVersion1(folder: string): number {
  const [quota, period] = ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) => Number(readText(join(folder, name))));
  return coresOf(quota!, period!);
}

function coresOf(quotaUs: number, periodUs: number): number {
  return quotaUs > 0 && periodUs > 0 ? quotaUs / periodUs : Infinity;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
