import type { Stage } from './stage.ts';
import type { Need } from './subject.ts';

/** One line of the conformance table: one promise, run on fresh sockets. */
export interface Row<OwnStage extends Stage = Stage> {
  /** C-… as in the protocol's conformance table, X-… for further promises of crier. */
  readonly id: string;
  /** P: stated by the protocol. RFC: by RFC 6455. REF: only by the reference implementation. REC: recommended. */
  readonly level: 'P' | 'RFC' | 'REF' | 'REC';
  readonly title: string;
  readonly needs?: readonly Need[];
  /** @throws AssertionError if the server breaks the promise */
  run(stage: OwnStage): Promise<void>;
}

/** A row that any server can be asked for. */
export interface ProtocolRow extends Row {
  /** Who makes the promise, and where: a section of the protocol or of RFC 6455. */
  readonly source: string;
}

/** The protocol or RFC 6455 demands it: a server that does otherwise is at fault. */
export function isStated({ level }: Row): boolean {
  return level === 'P' || level === 'RFC';
}
