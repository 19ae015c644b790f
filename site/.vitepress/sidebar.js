import { readFileSync } from 'node:fs';

/** The pages of docs/ by part, in the order in which they are read. The site's test names a page that is missing. */
export const PARTS = {
  Learn: ['learn/start', 'learn/schema', 'learn/topic', 'learn/client', 'learn/deploy'],
  Recipes: [
    'recipes/no-events',
    'recipes/react',
    'recipes/change-data-capture',
    'recipes/topics',
    'recipes/dates',
    'recipes/multi-tenancy',
    'recipes/federation',
    'recipes/migrating',
  ],
  Reference: [
    'reference/graph',
    'reference/directives',
    'reference/matching',
    'reference/filters',
    'reference/state',
    'reference/envelopes',
    'reference/records',
    'reference/formats',
    'reference/resolvers',
    'reference/context',
    'reference/authorisation',
    'reference/publishing',
    'reference/http',
    'reference/transports',
    'reference/resume',
    'reference/clients',
    'reference/errors',
    'reference/library',
    'reference/commands',
    'reference/init',
    'reference/configuration',
  ],
  Operate: [
    'operate/roles',
    'operate/kubernetes',
    'operate/capacity',
    'operate/processes',
    'operate/health',
    'operate/shutdown',
    'operate/admission',
    'operate/proxies',
    'operate/kafka',
    'operate/dead-letters',
    'operate/redis',
    'operate/backends',
    'operate/memory',
    'operate/tunables',
    'operate/security',
    'operate/tokens',
    'operate/revocation',
    'operate/limits',
    'operate/trusted-documents',
    'operate/reload',
    'operate/schema-changes',
    'operate/record-schemas',
    'operate/versions',
    'operate/metrics',
    'operate/traces',
    'operate/log',
    'operate/profiling',
    'operate/runbook',
    'operate/troubleshooting',
  ],
  Why: [
    'why/story',
    'why/story-points',
    'why/guarantees',
    'why/performance',
    'why/conformance',
    'why/architecture',
    'why/kafka-client',
    'why/dependencies',
    'why/glossary',
  ],
};

/** @param {string} page @returns {string} its first heading, without marks of code */
function titleOf(page) {
  const [, title] = /^# (.*)$/m.exec(readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')) ?? [];
  if (title === undefined) throw new Error(`docs/${page}.md has no heading`);
  return title.replaceAll('`', '');
}

export const sidebar = Object.entries(PARTS).map(([text, pages]) => ({
  text,
  items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
}));
