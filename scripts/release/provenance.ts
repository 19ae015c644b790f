import { refuse } from './release.ts';
import type { Package } from './packages.ts';
import type { Release } from './release.ts';

/** What npm needs to attest where a package was built, and what readers of the registry look for: https://docs.npmjs.com/generating-provenance-statements */
export function provenance(release: Release): string {
  const { packages } = release;
  refuse(manifestProblems(packages));
  const url = packages[0]!.manifest.repository?.url;
  if (url === undefined)
    release.leaveToOwner(
      'package.json has no repository: write {"type": "git", "url": "git+https://…"}, and run `npm run scope`',
    );
  if (!release.isDryRun) refuse(builderProblems(url));
  return `${url ?? 'no repository'}, ${packages[0]!.manifest.license}, Node ${packages[0]!.manifest.engines!.node}`;
}

export function manifestProblems(packages: readonly Package[]): string[] {
  const server = packages[0]!.manifest;
  const [scope] = server.name.split('/');
  return packages.flatMap(({ folder, manifest }) => {
    const { description, license, type, engines, repository, publishConfig, name } = manifest;
    const problems: string[] = [];
    if (name.split('/')[0] !== scope) problems.push(`the name ${name} is outside of ${scope}: run \`npm run scope\``);
    if (!description) problems.push('add a description');
    if (!license || license !== server.license) problems.push(`license: expected ${server.license}`);
    if (type !== 'module') problems.push('type: expected "module"');
    if (!engines?.node || engines.node !== server.engines?.node)
      problems.push(`engines.node: expected ${server.engines?.node}`);
    if (publishConfig?.access !== 'public' || publishConfig.provenance !== true)
      problems.push('publishConfig: expected {"access": "public", "provenance": true}');
    const isElsewhere = folder !== '.' && repository?.directory !== folder;
    if (repository?.url !== server.repository?.url || (repository && isElsewhere))
      problems.push("repository: expected that of package.json, with this package's folder: run `npm run scope`");
    return problems.map((problem) => `${folder}/package.json: ${problem}`);
  });
}

/** npm attests only what the forge builds, and only for the repository that the package names. */
function builderProblems(url: string | undefined): string[] {
  const repository = process.env['GITHUB_REPOSITORY'];
  if (repository === undefined)
    return ['packages are published by .github/workflows/release.yml, which attests their provenance: push the tag'];
  const expected = `git+${process.env['GITHUB_SERVER_URL']}/${repository}.git`;
  return url === expected ? [] : [`package.json: repository.url is ${url}, and this is ${expected}`];
}
