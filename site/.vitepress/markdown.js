import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** `repository` of the root's package.json. Without it, files outside of docs/ have no address, and their links are plain text. */
const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const REPOSITORY = repository?.url?.replace(/^git\+|\.git$/g, '');

/** @param {string} page from docs/ @param {string} href @returns {string | undefined} the file of a link that leads out of docs/, from the root */
function fileOutside(page, href) {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return undefined;
  const file = relative(ROOT, join(ROOT, 'docs', dirname(page), href.split('#', 1)[0]));
  if (file.startsWith('docs/')) return undefined;
  if (!existsSync(join(ROOT, file))) throw new Error(`docs/${page}: ${href} leads to no file`);
  return file;
}

/**
 * Links to files of the repository that are no pages lead to the repository.
 * @param {import('markdown-it').default} md
 */
export function linkRepository(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isPlain = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const file = fileOutside(env.relativePath, token.attrGet('href'));
          if (file === undefined) continue;
          isPlain = REPOSITORY === undefined;
          if (isPlain) token.type = 'text';
          else token.attrSet('href', `${REPOSITORY}/blob/main/${file}`);
        } else if (token.type === 'link_close' && isPlain) {
          isPlain = false;
          token.type = 'text';
        }
      }
    }
  });
}

/**
 * The pages are Markdown alone: what Vue would evaluate is text.
 * @param {import('markdown-it').default} md
 */
export function escapeBraces(md) {
  const render = md.renderer.render.bind(md.renderer);
  md.renderer.render = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
}

/** GitHub's anchors, which the links of the pages name. @param {string} title */
export function anchorOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
