import { anchorOf, escapeBraces, linkRepository } from './markdown.js';
import { PARTS, sidebar } from './sidebar.js';

/** The pages are in docs/, from where Node finds no package of this folder: the built program, which is in it, does. */
const vueOfThisFolder = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId: (id, importer, { ssr }) => (ssr && /^vue(?:$|\/)/.test(id) ? { id, external: true } : undefined),
};

export default {
  title: 'crier',
  description: 'GraphQL subscriptions from Kafka topics',
  lang: 'en',
  srcDir: '../docs',
  outDir: 'dist',
  cacheDir: '.cache',
  // The addresses of a reader's own server.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    html: false,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      linkRepository(md);
      escapeBraces(md);
    },
    anchor: { slugify: anchorOf },
    languageAlias: { haproxy: 'nginx', promql: 'txt' },
  },
  vite: { plugins: [vueOfThisFolder] },
  themeConfig: {
    search: { provider: 'local' },
    nav: Object.entries(PARTS).map(([text, [first]]) => ({
      text,
      link: `/${first}`,
      activeMatch: `^/${text.toLowerCase()}/`,
    })),
    sidebar,
    outline: [2, 3],
  },
};
