import { readFileSync } from 'node:fs';
import { traverse, types } from '@babel/core';
import { didYouMean } from '../../base/did-you-mean.ts';
import { RELATIVE } from './plain-modules.ts';

/** An import, or a re-export, of a file. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Those that it takes; `default` is one. */
  readonly names: readonly string[];
  /** True: it says what kind of file it imports, as JSON needs. */
  readonly hasType: boolean;
}

export interface ModuleLinks {
  readonly imports: readonly Import[];
  /** undefined: it exports all names of another module, too. */
  readonly exports: ReadonlySet<string> | undefined;
}

type Program = NonNullable<Parameters<typeof traverse>[0]>;
type Name = types.Identifier | types.StringLiteral;
type Declaration = types.ImportDeclaration | types.ExportNamedDeclaration | types.ExportAllDeclaration;

/** The imports of files, and the exports, of a compiled module. */
export function linksOf(program: Program): ModuleLinks {
  const imports: Import[] = [];
  const exports = new Set<string>();
  let hasAll = false;
  const add = ({ source, attributes, loc }: Declaration, names: readonly string[]) => {
    if (!source || !RELATIVE.test(source.value)) return;
    const hasType = (attributes ?? []).some(({ key }) => nameOf(key) === 'type');
    imports.push({ specifier: source.value, line: loc?.start.line ?? 1, names, hasType });
  };
  traverse(program, {
    ImportDeclaration: ({ node }) => {
      const names = node.specifiers.flatMap((one) => {
        if (one.type === 'ImportSpecifier') return nameOf(one.imported);
        return one.type === 'ImportDefaultSpecifier' ? 'default' : [];
      });
      add(node, names);
    },
    ExportNamedDeclaration: ({ node }) => {
      for (const name of Object.keys(
        node.declaration ? types.getBindingIdentifiers(node.declaration, false, true) : {},
      ))
        exports.add(name);
      for (const one of node.specifiers) exports.add(nameOf(one.exported));
      add(
        node,
        node.specifiers.flatMap((one) => (one.type === 'ExportSpecifier' ? one.local.name : [])),
      );
    },
    ExportDefaultDeclaration: () => void exports.add('default'),
    ExportAllDeclaration: ({ node }) => {
      hasAll = true;
      add(node, []);
    },
    CallExpression: ({
      node: {
        callee,
        arguments: [argument],
        loc,
      },
    }) => {
      if (callee.type !== 'Import' || argument?.type !== 'StringLiteral' || !RELATIVE.test(argument.value)) return;
      imports.push({ specifier: argument.value, line: loc?.start.line ?? 1, names: [], hasType: true });
    },
  });
  return { imports, exports: hasAll ? undefined : exports };
}

/** What is wrong with an import of a name that a file does not export; undefined: nothing. */
export function missingName({ specifier, names }: Import, file: string, target: ModuleLinks | undefined) {
  const exported = target?.exports;
  if (!exported) return undefined;
  const name = names.find((one) => !exported.has(one));
  if (name === undefined) return undefined;
  const isType = new RegExp(String.raw`\b(?:interface|type)\s+(?:\{[^}]*\b)?${name}\b`).test(
    readFileSync(file, 'utf8'),
  );
  if (isType) return `imports "${name}" from "${specifier}", which is a type there; write import type { ${name} }`;
  const fix = didYouMean(name, [...exported]) || `; it exports: ${[...exported].join(', ') || 'nothing'}`;
  return `imports "${name}" from "${specifier}", which does not export it${fix}`;
}

function nameOf(node: Name): string {
  return node.type === 'Identifier' ? node.name : node.value;
}
