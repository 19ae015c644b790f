import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import type { SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CallFrame, CpuProfile } from '../../src/ops/profiling/cpu-profile.ts';

/** A chunk of crier's bundle, which has many modules. */
const CHUNK = /^file:.*\/bundle\/[^/]+\.js$/;

/** A `.cpuprofile`, whose calls have the file and line of their source where they are in crier's bundle. */
export async function readProfile(path: string): Promise<CpuProfile> {
  const profile = JSON.parse(await readFile(path, 'utf8')) as CpuProfile;
  const chunks = new Set(profile.nodes.map(({ callFrame }) => callFrame.url).filter((url) => CHUNK.test(url)));
  const maps = new Map(await Promise.all(Array.from(chunks, async (url) => [url, await sourceMapOf(url)] as const)));
  const nodes = profile.nodes.map((node) => ({ ...node, callFrame: sourceOf(node.callFrame, maps) }));
  return { ...profile, nodes };
}

async function sourceMapOf(url: string): Promise<SourceMap> {
  return new SourceMap(JSON.parse(await readFile(`${fileURLToPath(url)}.map`, 'utf8')) as SourceMapPayload);
}

function sourceOf(frame: CallFrame, maps: ReadonlyMap<string, SourceMap>): CallFrame {
  const entry = maps.get(frame.url)?.findEntry(frame.lineNumber, frame.columnNumber);
  if (!entry || !('originalSource' in entry)) return frame;
  const url = new URL(entry.originalSource, frame.url).href;
  return { ...frame, url, lineNumber: entry.originalLine, columnNumber: entry.originalColumn };
}
