/** What an expression reads of one metric: the label names of its matchers, and of the aggregations around it. */
interface Selection {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** Words of PromQL that may stand where a metric does, and are none. */
const KEYWORDS = /^(and|or|unless|offset|bool|group_left|group_right|inf|nan)$/i;

/** Labels that Prometheus adds to a scraped series, or its formats to a histogram's. */
const ADDED_LABELS = ['job', 'instance', 'namespace', 'pod', 'le', 'quantile'];

/**
 * Metrics and labels of an expression that do not exist, as sentences.
 * @param known label names of each metric
 * @throws Error if an aggregation has its labels after its operand
 */
export function unknownNames(expr: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  return selectionsOf(expr).flatMap(({ metric, labels }) => {
    const names = known.get(metric);
    if (!names) return [`no metric ${metric}`];
    return labels
      .filter((label) => !names.includes(label) && !ADDED_LABELS.includes(label))
      .map((label) => `no label ${label} of ${metric}`);
  });
}

function selectionsOf(expr: string): Selection[] {
  const text = expr.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const aggregations = Array.from(
    text.matchAll(/\b(?:by|without)\s*\(([^)]*)\)\s*/g),
    ({ 0: clause, 1: list, index }) => {
      const start = index + clause.length;
      if (text[start] !== '(') throw new Error(`write the labels of an aggregation before its operand: ${expr}`);
      return { labels: list!.match(/\w+/g) ?? [], start, end: closingParenthesis(text, start) };
    },
  );
  // Blanks keep the positions.
  const names = text.replace(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, (part) =>
    ' '.repeat(part.length),
  );
  return Array.from(names.matchAll(/(?<![\w:])[a-z_:][\w:]*(?![\w:]|\s*\()/gi))
    .filter(([name]) => !KEYWORDS.test(name))
    .map(({ 0: metric, index }) => {
      const [, matchers = ''] = /^\s*\{([^}]*)\}/.exec(text.slice(index + metric.length)) ?? [];
      const matched = Array.from(matchers.matchAll(/(\w+)\s*(?:=|!)/g), ([, label]) => label!);
      const around = aggregations.filter(({ start, end }) => start < index && index < end);
      return { metric, labels: [...matched, ...around.flatMap(({ labels }) => labels)] };
    });
}

/** Position of the parenthesis that closes the one at `start`. */
function closingParenthesis(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')' && --depth === 0) return i;
  }
  return text.length;
}
