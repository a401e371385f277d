import { posix } from 'node:path';
import type { Violation } from './import-rules.ts';
import { isNode, type SourceFile, type SourceTree, type SyntaxNode } from './source-tree.ts';

/** No file is longer than this (`style.md`: every file past 600 lines is one that people complain about). */
export const FILE_LINES_MAX = 400;

/** What a piece of SQL looks like. Words of a sentence never match: keywords stand in pairs or in capitals. */
const sqlPatterns: readonly RegExp[] = [
  /^\s*(SELECT|PRAGMA|SAVEPOINT|ATTACH|EXPLAIN)\s/,
  /^\s*WITH\s+(RECURSIVE\s+)?\w+[^a-z]*\s+AS\s*\(/i,
  /\bselect\b[^.;]+\bfrom\s+\w+\s+(where|order\s+by|group\s+by|limit|join)\b/i,
  /\binsert\s+(or\s+\w+\s+)?into\s+\w+\s*(\(|values|select)/i,
  /\bupdate\s+\w+\s+set\s+\w+\s*=/i,
  /\bdelete\s+from\s+\w+(\s+where|\s*$)/i,
  /\b(create|drop|alter)\s+((unique|virtual|temp|temporary)\s+)*(table|index|trigger|view)\s/i,
  /^\s*(BEGIN|COMMIT|ROLLBACK)(\s|;|$)/,
];

const sqlHomes: readonly RegExp[] = [/^src-main\/\w+\/(tables|migrations)\//, /^src-main\/sqlite\//];

/** The texts of a file's string and template literals. */
function literalsOf(file: SourceFile): readonly string[] {
  return file.nodes.flatMap((node) => {
    const text =
      node.type === 'TemplateLiteral' ? templateText(node) : node.type === 'Literal' ? node.value : undefined;
    return typeof text === 'string' ? [text] : [];
  });
}

function templateText(node: SyntaxNode): string {
  const quasis = Array.isArray(node.quasis) ? node.quasis : [];
  return quasis
    .map((quasi: unknown) => {
      const value = isNode(quasi) ? quasi.value : undefined;
      return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : '';
    })
    .join(' x ');
}

/** Only `tables/` and `migrations/` contain SQL; the driver's own transactions and pragmas are in `sqlite/`. */
export function findStraySql(tree: SourceTree): readonly Violation[] {
  return tree.files
    .filter((file) => file.path.startsWith('src-') && !sqlHomes.some((home) => home.test(file.path)))
    .flatMap((file) =>
      literalsOf(file)
        .filter((text) => sqlPatterns.some((pattern) => pattern.test(text)))
        .map((text) => `${file.path} contains SQL: ${text.trim().slice(0, 40)}`),
    );
}

/** Named exports only, and no file that hands on what another one exports. */
export function findExportViolations(tree: SourceTree): readonly Violation[] {
  return tree.files
    .filter((file) => file.path.startsWith('src-'))
    .flatMap((file) => [
      ...(/^index\.tsx?$/.test(posix.basename(file.path)) ? [`${file.path} is named like a barrel`] : []),
      ...file.nodes.flatMap((node) => {
        if (node.type === 'ExportDefaultDeclaration') return [`${file.path} has a default export`];
        if (node.type === 'ExportAllDeclaration') return [`${file.path} hands on a whole module`];
        if (node.type === 'ExportNamedDeclaration' && isNode(node.source))
          return [`${file.path} hands on exports of another file`];
        return [];
      }),
    ]);
}

/** Files are short enough to be read in one sitting. */
export function findLongFiles(tree: SourceTree): readonly Violation[] {
  return tree.files
    .map((file) => ({ path: file.path, lines: file.text.split('\n').length - (file.text.endsWith('\n') ? 1 : 0) }))
    .filter((file) => file.lines > FILE_LINES_MAX)
    .map((file) => `${file.path} has ${file.lines} lines, more than ${FILE_LINES_MAX}`);
}

/** File and folder names are kebab-case; `SPEC.md` and the like are no sources. */
export function findBadNames(tree: SourceTree): readonly Violation[] {
  return tree.files
    .filter(
      (file) => !file.path.split('/').every((part) => /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/.test(part)),
    )
    .map((file) => `${file.path} is not kebab-case`);
}

/** Rules read no clock and no randomness: both are parameters. */
export function findImpureRules(tree: SourceTree): readonly Violation[] {
  const impure = [
    'Date.now',
    'Math.random',
    'performance.now',
    'crypto.randomUUID',
    'crypto.getRandomValues',
    'process.env',
    'globalThis.crypto',
  ];
  return tree.files
    .filter((file) => /^src-main\/\w+\/rules\//.test(file.path))
    .flatMap((file) =>
      file.nodes.flatMap((node) => {
        const name = node.type === 'MemberExpression' ? memberName(node) : undefined;
        if (name !== undefined && impure.includes(name)) return [`${file.path} reads ${name}`];
        const isNewDate =
          node.type === 'NewExpression' &&
          isNamed(node.callee, 'Date') &&
          Array.isArray(node.arguments) &&
          node.arguments.length === 0;
        return isNewDate ? [`${file.path} reads the clock by new Date()`] : [];
      }),
    );
}

/** Every test runs: none is skipped, focused or left for later, and no source leaves a task behind in a comment. */
export function findUnfinished(tree: SourceTree): readonly Violation[] {
  const later = new RegExp(
    `\\b(${['TO', 'FIX', 'XX'].map((word, index) => word + ['DO', 'ME', 'X'][index]).join('|')})\\b`,
  );
  const suppressions = new RegExp(`@ts-${'ignore'}|@ts-${'expect-error'}|@ts-${'nocheck'}`);
  return tree.files.flatMap((file) => [
    ...(later.test(file.text) ? [`${file.path} leaves a task behind in a comment`] : []),
    ...(suppressions.test(file.text) ? [`${file.path} silences the type checker`] : []),
    ...file.nodes
      .filter(
        (node) =>
          node.type === 'MemberExpression' &&
          /^(test|it|describe)\.(skip|only|todo|skipIf|runIf|fails)$/.test(memberName(node)),
      )
      .map((node) => `${file.path} has ${memberName(node)}`),
  ]);
}

function memberName(node: SyntaxNode): string {
  const { object, property } = node;
  if (!isNode(object) || !isNode(property) || typeof object.name !== 'string' || typeof property.name !== 'string')
    return '';
  return `${object.name}.${property.name}`;
}

function isNamed(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && node.name === name;
}
