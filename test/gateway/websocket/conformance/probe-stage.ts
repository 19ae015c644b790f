import assert from 'node:assert/strict';
import { next } from '../../../../src/tools/conformance/answers.ts';
import type { Row } from '../../../../src/tools/conformance/row.ts';
import { Stage } from '../../../../src/tools/conformance/stage.ts';
import type { ProtocolMessage, Scope, Socket } from '../../../support/socket.ts';
import { createProbe } from '../probe.ts';
import type { Probe } from '../probe.ts';
import type { Settings, Target } from '../target.ts';

/** A row that looks inside the server, too, or needs a server of its own. */
export interface ProbeRow extends Row<ProbeStage> {
  /** Settings of a separate server for this row. Default: the server that rows share. */
  readonly settings?: Settings;
}

export const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';
export const LIVE_LATER = 'subscription ($token: String!) { live_later(token: $token) { value } }';
export const SLOW = 'query ($token: String!) { slow(token: $token) }';

/** A server with the graph of fixtures/conformance, which probes observe and control. */
export class ProbeStage extends Stage {
  readonly target: Target;
  readonly #scope: Scope;

  constructor(scope: Scope, target: Target, patienceMs: number) {
    super(
      {
        url: target.url,
        query: { query: '{ hello }' },
        refusedParams: { auth: 'reject' },
        missing: new Map(),
        feed: () => {
          const probe = createProbe(scope);
          let value = 0;
          return { operation: { query: LIVE, variables: { token: probe.token } }, trigger: () => probe.push(value++) };
        },
      },
      patienceMs,
    );
    this.#scope = scope;
    this.target = target;
    scope.after(() => this.close());
  }

  get url(): string {
    return this.target.url;
  }

  probe(): Probe {
    return createProbe(this.#scope);
  }

  /** A running `live` operation, proven by its first event (value 0). */
  async live(socket: Socket, id: string, probe = this.probe()): Promise<Probe> {
    socket.subscribe(id, LIVE, { token: probe.token });
    await waitForStart(socket, probe, 1);
    probe.push(0);
    assert.deepEqual(await socket.next(), next(id, { live: { value: 0 } }));
    return probe;
  }
}

/** Makes round trips until the probe has `starts` sources, so that a close is noticed meanwhile. */
export async function waitForStart(socket: Socket, probe: Probe, starts: number): Promise<void> {
  const unexpected: ProtocolMessage[] = [];
  for (let i = 0; i < 20 && probe.starts < starts; i++) unexpected.push(...(await socket.roundTrip()));
  assert.equal(probe.starts, starts, `started sources; messages received instead: ${JSON.stringify(unexpected)}`);
  assert.deepEqual(unexpected, []);
}
