import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { withCommands } from '../scripts/commands-page.ts';
import { withSettings } from '../scripts/configuration-page.ts';
import { installHint, PROGRAMS } from '../stack/programs.ts';
import { commands } from '../src/tools/commands.ts';
import { BACKEND_SUFFIXES } from '../src/config/backend-settings.ts';
import { RECORD_ENVELOPES } from '../src/graph/schema/record-envelope.ts';
import { RECORD_FORMATS } from '../src/graph/schema/record-format.ts';
import { settingRows } from '../src/config/setting-rows.ts';
import { tunableNames } from '../src/config/variables.ts';
import { variables } from '../src/config/variables.ts';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'loadtest/README.md',
  ...readdirSync('examples').map((name) => `examples/${name}/README.md`),
  'client/README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

const read = (path: string) => readFileSync(path, 'utf8');
const code = (page: string) => page.matchAll(/^```.*?^```$/gms);
/** A page without its code blocks, where brackets and "#" are not links and headings. */
const prose = (page: string) => page.replace(/^```.*?^```$/gms, '');

/** Cells of the rows that begin with code, without code marks. */
function rowsOf(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  return new Set(
    Array.from(prose(page).matchAll(/^#+ (.*)$/gm), ([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Names that `src` gives to `crier_` metrics. */
function metricNames(): string[] {
  return sources().flatMap((text) => Array.from(text.matchAll(/'(crier_\w+)'/g), ([, metric]) => metric!));
}

/** The texts of the files of `src`. */
function sources(): string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.map((name) => read(join('src', name)));
}

/** Names of the fields that `src` logs, as far as a call of the logger lists them. */
function logFields(): string[] {
  const calls = sources().flatMap((text) =>
    Array.from(
      text
        .replaceAll(/\$\{[^}]*\}/g, '')
        .matchAll(/\blog(?:ger)?(?:\.(?:debug|info|warn|error|fatal)|\[level\])\(\s*\{(.*)\},?\s/g),
    ),
  );
  return calls.flatMap(([, fields]) =>
    fields!
      .replace(/\{[^}]*\}|\([^)]*\)/g, '')
      .split(',')
      .map((field) => field.split(':')[0]!.trim())
      .filter((name) => name !== '' && !name.startsWith('...')),
  );
}

describe('the pages of the documentation', () => {
  it('link to files and headings that exist', () => {
    for (const page of PAGES) {
      for (const [, link] of prose(read(page)).matchAll(/\]\(((?!https?:)[^)]+)\)/g)) {
        const [path, anchor] = link!.split('#');
        const target = path ? join(dirname(page), path) : page;
        assert.ok(existsSync(target), `${page}: ${link}`);
        if (anchor !== undefined) assert.ok(anchorsOf(read(target)).has(anchor), `${page}: ${link}`);
      }
    }
  });

  it('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const page of PAGES)
      for (const [, name] of read(page).matchAll(/npm run (?:-s )?([\w:-]+)/g))
        assert.ok(scripts[name!], `${page}: npm run ${name}`);
  });

  it('name commands and options that exist, in blocks of code', async () => {
    let count = 0;
    for (const page of PAGES) {
      for (const [block] of code(read(page)))
        for (const [, name, rest] of block.matchAll(/^npx --no-install crier ([\w-]+)([^|\n]*)/gm)) {
          count++;
          if (name === 'start' || name === 'dev') continue;
          const { usage } = await commands[name!]!.load();
          for (const [option] of rest!.matchAll(/(?<= )--[\w-]+/g))
            assert.ok(usage.includes(option), `${page}: ${name} ${option}`);
        }
    }
    assert.ok(count > 8, `${count}`);
  });

  it('name settings that exist', () => {
    const known = new Set([
      ...settingRows().map(({ name }) => name),
      'BACKEND_CONSUMER_LISTING_INTAKE_URL',
      // A column of a recipe, and a value of `before`.
      'ORDER_COUNT',
      'BY_CONNECTOR',
      ...errorCodes(),
      // Constants of the code.
      'CLOSE_CODES',
      'SOCKET_FORMATS',
      'NODE_ENV',
      // Of AWS's SDK.
      'AWS_ENDPOINT_URL_GLUE',
      'AWS_PROFILE',
      'AWS_REGION',
      'NODE_OPTIONS',
      'NODE_EXTRA_CA_CERTS',
      ...OPENTELEMETRY_VARIABLES,
      'KAFKA_SERVICE_HOST',
      ...RECORD_FORMATS,
      ...Object.keys(RECORD_ENVELOPES),
      // Of @change.
      'SOURCE_TIMESTAMP',
    ]);
    for (const page of PAGES.filter((name) => name.startsWith('docs/') || name === 'README.md'))
      for (const [, name] of read(page).matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=\w+)?`/g))
        assert.ok(known.has(name!), `${page}: ${name}`);
  });

  it('say of each tunable what a lower value does', () => {
    const part = read('docs/operate/tunables.md');
    const rows = Array.from(part.matchAll(/^\| `([A-Z_]+)` +\|/gm), ([, name]) => name!);
    assert.deepEqual(rows.sort(), [...tunableNames].sort());
  });

  it('name the folders of src in the layout', () => {
    const layout = [...code(read('docs/why/architecture.md'))].find(([block]) => block.includes('\nsrc/\n'))![0];
    for (const [, name] of layout.matchAll(/^ {2}([\w./-]+)\s/gm)) assert.ok(existsSync(`src/${name}`), name);
    for (const [, folder] of layout.matchAll(/^(\w+\/)\s/gm)) assert.ok(existsSync(folder!), folder);
    for (const { name } of readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory()))
      assert.ok(layout.includes(`\n  ${name}/`), `src/${name}`);
  });
});

/** `ErrorCode` of src/base/errors.ts. */
function errorCodes(): string[] {
  const [, union] = /export type ErrorCode =([^;]*);/.exec(read('src/base/errors.ts'))!;
  return Array.from(union!.matchAll(/'(\w+)'/g), ([, code]) => code!);
}

/** Read by OpenTelemetry's SDK. */
const OPENTELEMETRY_VARIABLES = [
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
];

describe('README.md', () => {
  it('has at most 200 lines', () => {
    assert.ok(read('README.md').split('\n').length <= 201);
  });

  it('opens the pods of docker-compose.yml on their ports', () => {
    const ports = [...read('docker-compose.yml').matchAll(/:-(\d+)\}:4000'/g)].map(([, port]) => port);
    for (const page of ['README.md', 'docs/operate/roles.md']) {
      const [row] = /^.*docker compose up.*$/m.exec(read(page))!;
      assert.deepEqual(
        [...row.matchAll(/localhost:(\d+)/g)].map(([, port]) => port),
        ports,
      );
    }
  });
});

describe('docs/reference/configuration.md', () => {
  it('lists every setting of src/config/variables.ts with its default, unit and meaning (npm run docs:configuration)', () => {
    const page = read('docs/reference/configuration.md');
    assert.equal(page, withSettings(page));
    const rows = rowsOf(page).map(([name]) => name!);
    const listed = Object.entries(variables).flatMap(([name, { isSecret }]) =>
      isSecret ? [name, `${name}_FILE`] : name,
    );
    const backends = BACKEND_SUFFIXES.map((suffix) => `BACKEND_<NAME>_${suffix}`);
    // The order is that of --help, which begins with those of a deployment.
    assert.deepEqual(rows.toSorted(), [...listed, ...backends].sort());
  });
});

describe('docs/reference/commands.md', () => {
  it('has what the help of each command prints (npm run docs:commands)', async () => {
    const page = read('docs/reference/commands.md');
    assert.equal(page, await withCommands(page));
  });
});

describe('docs/reference/errors.md', () => {
  it('explains each code of an error once', () => {
    const codes = errorCodes();
    assert.ok(codes.length > 20);
    const table = read('docs/reference/errors.md').split('\n## Codes\n')[1]!.split('\n## ')[0]!;
    const listed = Array.from(table.matchAll(/^\| (.*?) +\|/gm), ([, cell]) => cell!).flatMap((cell) =>
      Array.from(cell.matchAll(/`([A-Z_]+)`/g), ([, code]) => code!),
    );
    assert.deepEqual(listed.sort(), codes.sort());
  });
});

describe('docs/operate', () => {
  it('has no page of more than 2,500 words', () => {
    for (const page of PAGES.filter((name) => name.startsWith('docs/operate/'))) {
      const words = read(page).split(/\s+/).length;
      assert.ok(words <= 2500, `${page}: ${words} words`);
    }
  });

  it('has no table of more than three columns', () => {
    for (const page of PAGES.filter((name) => name.startsWith('docs/operate/')))
      for (const [rule] of read(page).matchAll(/^\|(?: -+ \|)+$/gm))
        assert.ok(rule.split('|').length <= 5, `${page}: ${rule}`);
  });

  it('names every metric of crier', () => {
    const page = read('docs/operate/metrics.md');
    const names = metricNames();
    assert.ok(names.length > 40);
    for (const name of names) assert.ok(page.includes(`\`${name}\``), name);
  });

  it("names metrics by Prometheus's rules: `_total` for counters only, after the unit; base units", () => {
    const gauges = sources().flatMap((text) =>
      Array.from(text.matchAll(/\bgauges?\(\s*'(\w+)'/g), ([, name]) => name!),
    );
    assert.ok(gauges.length > 10);
    const histograms = sources().flatMap((text) =>
      Array.from(text.matchAll(/\bhistogram\(\{\s*name: '(\w+)'/g), ([, name]) => name!),
    );
    for (const name of metricNames()) {
      assert.match(name, /^crier(_[a-z]+)+$/);
      assert.equal(name.endsWith('_total'), ![...gauges, ...histograms].includes(name), name);
      assert.doesNotMatch(name, /_(ms|millis\w*|micros\w*|minutes|hours|kb|mb|kilobytes|megabytes|percent)(_|$)/, name);
      assert.doesNotMatch(name, /_(bytes|seconds)_(?!(total|max)$)/, `${name}: the unit is a suffix`);
    }
  });

  it('names every field of the log', () => {
    const table = read('docs/operate/log.md');
    const names = logFields();
    assert.ok(new Set(names).size > 20);
    for (const name of names) assert.ok(table.includes(`\`${name}\``), name);
  });
});

describe('docs/why/story-points.md', () => {
  const page = read('docs/why/story-points.md');
  /** A line without a verdict is as told. */
  const rows = Array.from(
    page.matchAll(/^(\d+)\. +(?:\*\*(.+?)\*\*: )?(.*)$/gm),
    ([, number, verdict = 'as told', text]) => ({ number: Number(number), verdict, text: text! }),
  );

  it('has each of the 123 points once, in order', () => {
    assert.deepEqual(
      rows.map(({ number }) => number),
      Array.from({ length: 123 }, (_, i) => i + 1),
    );
  });

  it('gives each point one of four verdicts, counts them, and says where or why', () => {
    const verdicts = ['as told', 'deviates', 'missing', 'nothing to implement'];
    for (const { number, verdict, text } of rows) {
      assert.ok(verdicts.includes(verdict), `${number}: ${verdict}`);
      assert.match(text, verdict === 'nothing to implement' ? /./ : /^.+: .+$/, `${number}`);
    }
    for (const verdict of verdicts) {
      const count = rows.filter((row) => row.verdict === verdict).length;
      assert.ok(page.includes(`\n- ${verdict}: ${count}\n`), `${verdict}: ${count}`);
    }
  });
});

describe('CONTRIBUTING.md', () => {
  it('names the Debian packages that are installed when they are missing', () => {
    assert.ok(read('CONTRIBUTING.md').includes(`\`${installHint(PROGRAMS).split('--no-install-recommends ')[1]}\``));
  });
});
