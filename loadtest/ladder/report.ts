import { whole } from '../story/report/figure-text.ts';
import { markdownTable } from '../table.ts';
import type { Cells } from '../table.ts';
import type { Climb } from './climb.ts';
import type { LadderRow } from './figures.ts';
import { findingsOf } from './findings.ts';
import type { SemiSpaceRow } from './semi-space.ts';

const HEADINGS = [
  'rung',
  'recv',
  'send',
  'send/s',
  'recv ×',
  'the talk',
  'send ×',
  'the talk',
  'CPU µs',
  'idle MB',
  'flood MB',
  'in the talk',
];

/** A row for each rung. `×` is the ratio to the baseline of the same run; beside it, the talk's ratio to its baseline. */
export function ladderTable(rows: readonly LadderRow[]): Cells[] {
  return [HEADINGS, ...rows.map(cellsOf)];
}

function cellsOf({ title, measured, talk, talkRatios, note }: LadderRow): Cells {
  const talkSays = [
    talk?.received === undefined ? '' : `recv ${talk.received}`,
    talk?.sent === undefined ? '' : `send ${whole(talk.sent)}`,
    talk?.idleMegabytes === undefined ? '' : `idle ${talk.idleMegabytes} MB`,
    talk?.words ?? '',
    note ?? '',
  ];
  return [
    title,
    measured ? whole(measured.received) : '–',
    measured ? whole(measured.sent) : '–',
    measured ? whole(measured.sentPerSecond) : '–',
    times(measured?.ratios?.received),
    times(talkRatios.received),
    times(measured?.ratios?.sent),
    times(talkRatios.sent),
    measured ? measured.cpuUs.toFixed(measured.cpuUs < 10 ? 2 : 0) : '–',
    measured ? measured.idleMegabytes.toFixed(0) : '–',
    measured ? measured.floodMegabytes.toFixed(0) : '–',
    talkSays.filter((text) => text !== '').join('; '),
  ];
}

/** A row for each size of the young generation. */
export function semiSpaceTable(rows: readonly SemiSpaceRow[]): Cells[] {
  return [
    ['semi-space MB', 'send/s', 'CPU µs', 'scavenges', 'GC % of CPU', 'flood MB', 'RSS MB'],
    ...rows.map(({ megabytes, measured }) => [
      String(megabytes),
      whole(measured.sentPerSecond),
      measured.cpuUs.toFixed(2),
      whole(measured.scavenges),
      measured.gcPercent.toFixed(1),
      measured.floodMegabytes.toFixed(0),
      measured.residentMegabytes.toFixed(0),
    ]),
  ];
}

export interface Report extends Climb {
  /** Date, machine, versions and flags of the run. */
  readonly conditions: Readonly<Record<string, string | number | boolean>>;
}

export function markdownReport(name: string, { conditions, rows, semiSpaces, faults }: Report): string {
  const verdict = faults.length > 0 ? faults : ['Nothing was lost, and crier is as far ahead as promised.'];
  return `# Results: ${name}

recv: records taken from Kafka in the flood. send: messages that reached sockets in the flood. ×: ratio to the baseline of the same run; beside it, the talk's ratio to its baseline.
CPU µs: CPU time of the server per message. idle MB, flood MB: plateau of the heap used in the phase.

${markdownTable(ladderTable(rows))}
${bullets(findingsOf(rows))}
## Verdict

${bullets(verdict)}
${semiSpaces.length === 0 ? '' : `## crier's young generation\n\n${markdownTable(semiSpaceTable(semiSpaces))}\n`}## Conditions

${bullets(Object.entries(conditions).map(([key, value]) => `${key}: ${value}`))}
![The same figures as a picture](${name}.svg)
`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}\n`).join('');
}

function times(ratio: number | undefined): string {
  return ratio === undefined ? '' : ratio.toFixed(ratio < 100 ? 2 : 0);
}
