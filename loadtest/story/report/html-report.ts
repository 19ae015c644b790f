import type { Conditions } from '../../fanout/conditions.ts';
import { escapeMarkup } from '../../../src/base/escape-markup.ts';
import type { Cells } from '../../table.ts';
import type { StoryResult } from '../result.ts';
import { detailCharts, openLoopCharts, storyPicture } from './charts.ts';
import { whole } from './figure-text.ts';
import { COUNTS_NOTE, remarks } from './remarks.ts';
import { MISSED, tablesOf } from './tables.ts';
import type { Table } from './tables.ts';

/** One self-contained HTML document. */
export function htmlReport(result: StoryResult, conditions: Conditions): string {
  const title = `The story: ${result.title}, ${whole(result.sockets)} sockets`;
  const classOf = (remark: string) => (/^(NOT|WARNING)/.test(remark) ? ' class="bad"' : '');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeMarkup(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #24292f; background: #fff; max-width: 960px; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 0 0 1.5em }
caption { text-align: left; font-weight: 600; padding: 0.5em 0 }
th, td { padding: 0.25em 0.9em; border-bottom: 1px solid #d0d7de; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left; padding-left: 0 }
tr.own td { font-weight: 600 }
svg { max-width: 100%; height: auto; margin-bottom: 1em }
.bad { color: #cf222e; font-weight: 600 }
.note, dl { color: #57606a; font-size: 13px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1em }
dd { margin: 0 }
</style>
<h1>${escapeMarkup(title)}</h1>
${storyPicture(result)}
${tablesOf(result)
  .map((table) => htmlTable(table, result.title))
  .join('\n')}
<p class="note">${escapeMarkup(COUNTS_NOTE)}</p>
${remarks(result)
  .map((remark) => `<p${classOf(remark)}>${escapeMarkup(remark)}</p>`)
  .join('\n')}
${[...(result.openLoop ? openLoopCharts(result) : []), ...detailCharts(result)].join('\n')}
<h2>Conditions</h2>
<dl>
${Object.entries(conditions)
  .map(([name, value]) => `<dt>${escapeMarkup(name)}</dt><dd>${escapeMarkup(String(value))}</dd>`)
  .join('\n')}
</dl>
</html>
`;
}

/** Highlights the row of the measured pods and the rows of missed bounds. */
function htmlTable({ title, head, rows }: Table, own: string): string {
  const line = (tag: string, cells: Cells) => {
    const rowClass = cells[0] === own ? ' class="own"' : cells.at(-1) === MISSED ? ' class="bad"' : '';
    return `<tr${rowClass}>${cells.map((cell) => `<${tag}>${escapeMarkup(cell)}</${tag}>`).join('')}</tr>`;
  };
  return `<table><caption>${escapeMarkup(title)}</caption>
${line('th', head)}
${rows.map((cells) => line('td', cells)).join('\n')}
</table>`;
}
