import type { Stage } from './stage.ts';
import type { Need } from './subject.ts';

/** One line of the conformance table: one promise of graphql-transport-ws, run on fresh sockets. */
export interface Row<OwnStage extends Stage = Stage> {
  /** C-… as in the protocol's conformance table, X-… for further promises of crier. */
  readonly id: string;
  /** P: stated by the protocol. REF: only by the reference implementation. REC: our choice. RFC: RFC 6455. */
  readonly level: 'P' | 'REF' | 'REC' | 'RFC';
  readonly title: string;
  readonly needs?: readonly Need[];
  /** @throws AssertionError if the server breaks the promise */
  run(stage: OwnStage): Promise<void>;
}
