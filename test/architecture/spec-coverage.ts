import type { Violation } from './import-rules.ts';
import { isNode, type SourceFile, type SourceTree, type SyntaxNode } from './source-tree.ts';

/** A numbered rule of a SPEC.md, like `L12`. */
interface SpecRule {
  readonly id: string;
  readonly spec: string;
}

/** The rules of a SPEC.md: the ids of its lines that begin `- **L12**`. */
function rulesIn(spec: string, text: string): readonly SpecRule[] {
  return [...text.matchAll(/^\s*[-*] \*\*([A-Z]\d+)\*\*/gm)].map((match) => ({ id: match[1] ?? '', spec }));
}

/** The titles of a file's tests: the first argument of `test(…)`, `it(…)` and their `.each(…)(…)`. */
export function titlesOf(file: SourceFile): readonly string[] {
  return file.nodes.flatMap((node) => {
    if (node.type !== 'CallExpression' || !isTest(node.callee)) return [];
    const first: unknown = Array.isArray(node.arguments) ? node.arguments[0] : undefined;
    return isNode(first) ? [textOf(first)] : [];
  });
}

function isTest(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  if (callee.type === 'Identifier') return callee.name === 'test' || callee.name === 'it';
  if (callee.type === 'MemberExpression')
    return isTest(callee.object) && !isNamed(callee.property, 'each') && !isNamed(callee.property, 'for');
  // test.each(rows)(title, …): the callee is the call of `each`.
  return (
    callee.type === 'CallExpression' &&
    isNode(callee.callee) &&
    callee.callee.type === 'MemberExpression' &&
    isTest(callee.callee.object)
  );
}

function isNamed(node: unknown, name: string): boolean {
  return isNode(node) && node.name === name;
}

function textOf(node: SyntaxNode): string {
  if (node.type === 'Literal') return String(node.value);
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return '';
  return node.quasis
    .map((quasi: unknown) => {
      const value = isNode(quasi) ? quasi.value : undefined;
      return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : '';
    })
    .join(' ');
}

/**
 * Every rule of a SPEC.md is cited by the title of a test, every id in a title is a rule of some SPEC.md whose letter it
 * bears, and no id is given twice. Letters that no SPEC.md uses are free.
 */
export function findCoverageViolations(
  tree: SourceTree,
  specs: Readonly<Record<string, string>>,
): readonly Violation[] {
  const rules = Object.entries(specs).flatMap(([spec, text]) => rulesIn(spec, text));
  const known = new Set(rules.map((rule) => rule.id));
  const letters = new Set(rules.map((rule) => rule.id.charAt(0)));
  const cited = new Map<string, string>();
  for (const file of tree.files.filter((each) => /^test\/.*\.(test|spec)\.tsx?$/.test(each.path))) {
    for (const title of titlesOf(file)) {
      for (const match of title.matchAll(/(?<![\w.-])([A-Z]\d{1,3})(?![\w-])/g)) cited.set(match[1] ?? '', file.path);
    }
  }
  const counts = new Map<string, number>();
  for (const rule of rules) counts.set(rule.id, (counts.get(rule.id) ?? 0) + 1);
  return [
    ...rules.filter((rule) => !cited.has(rule.id)).map((rule) => `${rule.spec}: no test cites ${rule.id}`),
    ...[...cited]
      .filter(([id]) => letters.has(id.charAt(0)) && !known.has(id))
      .map(([id, path]) => `${path} cites ${id}, which no SPEC.md has`),
    ...[...counts].filter(([, count]) => count > 1).map(([id]) => `${id} is given to ${counts.get(id)} rules`),
  ];
}
