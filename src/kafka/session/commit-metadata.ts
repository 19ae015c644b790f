const FORMAT = /^crier(?:#([\w-]+))?:(?:(-1|\d+)(?: ([^\s@]+))?(?:@(\S+))?|start:(\S+))$/;

/** Where publishing of an assigned partition resumes. */
export interface ResumePoint {
  /** Last offset that the bus had accepted when the offset was committed; -1: unknown. */
  readonly position: number;
  /** `Skips.positions` at that time; undefined: the bus had none. */
  readonly positions?: string | undefined;
  /** Start id of the records, unless the whole bus knows it; undefined: the records continue after `position`. */
  readonly startId?: string | undefined;
  /** Id of the topic that had the records; undefined: unknown. */
  readonly topicId?: string | undefined;
}

/** Metadata of an offset commit. */
export function commitMetadata({ position, positions = '', startId, topicId }: ResumePoint): string {
  const writer = topicId === undefined ? 'crier' : `crier#${topicId}`;
  if (startId !== undefined && position < 0) return `${writer}:start:${startId}`;
  return `${writer}:${position}${positions && ` ${positions}`}${startId === undefined ? '' : `@${startId}`}`;
}

/** Undefined: crier did not write this metadata. */
export function parseCommitMetadata(metadata: string): ResumePoint | undefined {
  const [match, topicId, position, positions, startId, firstStartId] = FORMAT.exec(metadata) ?? [];
  if (match === undefined) return undefined;
  return {
    position: Number(position ?? -1),
    startId: startId ?? firstStartId,
    ...(positions !== undefined && { positions }),
    ...(topicId !== undefined && { topicId }),
  };
}
