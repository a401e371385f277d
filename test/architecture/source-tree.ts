import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'vite';

/** One import of a file: by `import`, `export … from`, `import()` or an `import('…')` type. */
export interface SourceImport {
  readonly specifier: string;
  /** Path from the root for a relative import, the package name for another. */
  readonly target: string;
  readonly kind: 'file' | 'package' | 'builtin';
  readonly typeOnly: boolean;
}

/** One node of a syntax tree; what is read from it is checked where it is read. */
export type SyntaxNode = Readonly<Record<string, unknown>> & { readonly type: string };

export interface SourceFile {
  /** Path from the root with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly SourceImport[];
  readonly nodes: readonly SyntaxNode[];
}

/** A source tree: from a disk, or made up for a test of a rule. */
export interface SourceTree {
  readonly files: readonly SourceFile[];
  has(path: string): boolean;
  textOf(path: string): string | undefined;
}

/**
 * A tree over texts by path. TypeScript files are parsed, all others are kept as texts.
 * @throws Error when a TypeScript file does not parse: a rule must not pass because nothing was read.
 */
export function treeOf(texts: Readonly<Record<string, string>>): SourceTree {
  const files = Object.entries(texts)
    .filter(([path]) => /\.tsx?$/.test(path))
    .map(([path, text]) => parseSource(path, text));
  return { files, has: (path) => Object.hasOwn(texts, path), textOf: (path) => texts[path] };
}

/** Reads the given files and folders below a root. What does not exist is left out. */
export function readTree(root: string, inputs: readonly string[]): SourceTree {
  const texts: Record<string, string> = {};
  const read = (path: string): void => {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (stat.isDirectory()) for (const name of readdirSync(join(root, path)).sort()) read(posix.join(path, name));
    else if (/\.(tsx?|mjs|md|json)$/.test(path)) texts[path] = readFileSync(join(root, path), 'utf8');
  };
  for (const input of inputs) read(input);
  return treeOf(texts);
}

/** The texts of all SPEC.md below a folder, by path. */
export function readSpecs(root: string, folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => posix.basename(path.replaceAll('\\', '/')) === 'SPEC.md')
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')));
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

function parseSource(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text);
  const first = parsed.errors[0];
  if (first !== undefined) throw new Error(`${path} does not parse: ${first.message}`);
  const nodes: SyntaxNode[] = [];
  collect(parsed.program, nodes);
  return { path, text, nodes, imports: nodes.flatMap((node) => importOf(path, node)) };
}

function collect(value: unknown, into: SyntaxNode[]): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, into);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) into.push(value);
  for (const child of Object.values(value)) collect(child, into);
}

/** Whether a value is a node of a syntax tree. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function importOf(path: string, node: SyntaxNode): SourceImport[] {
  switch (node.type) {
    case 'ImportDeclaration':
      return resolveImport(path, node.source, node.importKind === 'type');
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return resolveImport(path, node.source, node.exportKind === 'type');
    case 'ImportExpression':
      return resolveImport(path, node.source, false);
    case 'TSImportType':
      return resolveImport(path, node.source, true);
    default:
      return [];
  }
}

function resolveImport(path: string, source: unknown, typeOnly: boolean): SourceImport[] {
  if (!isNode(source) || typeof source.value !== 'string') return [];
  const specifier = source.value;
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    return [{ specifier, target, kind: 'file', typeOnly }];
  }
  if (specifier.startsWith('node:')) return [{ specifier, target: specifier, kind: 'builtin', typeOnly }];
  const parts = specifier.split('/');
  const target = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
  return [{ specifier, target, kind: 'package', typeOnly }];
}
