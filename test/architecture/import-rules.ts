import type { SourceFile, SourceImport, SourceTree } from './source-tree.ts';

/** One broken rule, as a sentence that begins with the file. */
export type Violation = string;

/**
 * The order of `design.md` §2: a part imports itself and what is lower, never its equals and never higher.
 * `home` (folders, keys, lock) stands beside the stores; the composition root and the shells stand on top. `text` is how
 * text is cut, searched and made visible, below the stores that need it.
 */
const ranks: Readonly<Record<string, number>> = {
  contract: 0,
  base: 1,
  canonical: 2,
  sqlite: 2,
  text: 3,
  lethe: 4,
  charon: 4,
  ledger: 4,
  home: 4,
  backup: 5,
  commands: 6,
  transports: 7,
  app: 8,
  shells: 9,
};

/** Packages that only some parts may import; a part is a path prefix. */
const packageHomes: readonly { readonly package: RegExp; readonly only: readonly string[] }[] = [
  { package: /^better-sqlite3$/, only: ['src-main/sqlite/'] },
  { package: /^electron$/, only: ['src-main/shells/electron/', 'src-preload/bridge.ts'] },
  { package: /^(fastify|@fastify\/.+|@modelcontextprotocol\/.+)$/, only: ['src-main/transports/'] },
  { package: /^commander$/, only: ['src-main/shells/'] },
  { package: /^pino$/, only: ['src-main/base/'] },
  { package: /^(react|react-dom|@mantine\/.+|@tanstack\/.+|zustand|lucide-react|get-nonce)$/, only: ['src-renderer/'] },
];

/** The part of the main process a path belongs to: `lethe`, `app`, `contract` …; undefined outside of it. */
function partOf(path: string): string | undefined {
  if (path.startsWith('src-preload/contract/')) return 'contract';
  if (!path.startsWith('src-main/')) return undefined;
  return path.split('/')[1]?.replace(/\.ts$/, '');
}

function say(file: SourceFile, found: SourceImport, rule: string): Violation {
  return `${file.path} imports ${found.specifier}: ${rule}`;
}

function forEachImport(
  tree: SourceTree,
  decide: (file: SourceFile, found: SourceImport) => string | undefined,
): readonly Violation[] {
  return tree.files.flatMap((file) =>
    file.imports.flatMap((found) => {
      const rule = decide(file, found);
      return rule === undefined ? [] : [say(file, found, rule)];
    }),
  );
}

/** Lower never imports higher, and equals never import each other (`design.md` §2). */
export function findOrderViolations(tree: SourceTree): readonly Violation[] {
  return forEachImport(tree, (file, found) => {
    const from = partOf(file.path);
    const to = found.kind === 'file' ? partOf(found.target) : undefined;
    if (from === undefined || to === undefined || from === to) return undefined;
    const fromRank = ranks[from];
    const toRank = ranks[to];
    if (fromRank === undefined || toRank === undefined)
      return `the part ${fromRank === undefined ? from : to} has no place in the order`;
    return toRank < fromRank ? undefined : `${from} stands below or beside ${to}`;
  });
}

/** `rules/` import only contract, base, canonical, text and rules of the same store, and no module of Node. */
export function findRuleFolderViolations(tree: SourceTree): readonly Violation[] {
  return forEachImport(tree, (file, found) => {
    const store = /^src-main\/(\w+)\/rules\//.exec(file.path)?.[1];
    if (store === undefined) return undefined;
    if (found.kind === 'builtin') return 'rules are pure';
    if (found.kind === 'package') return undefined;
    const allowed = [
      'src-preload/contract/',
      'src-main/base/',
      'src-main/canonical/',
      'src-main/text/',
      `src-main/${store}/rules/`,
    ];
    return allowed.some((prefix) => found.target.startsWith(prefix))
      ? undefined
      : 'rules see contract, base, canonical and text only';
  });
}

/** The border: main and renderer meet only in the contract, which knows neither Node nor DOM nor electron. */
export function findBorderViolations(tree: SourceTree): readonly Violation[] {
  return forEachImport(tree, (file, found) => {
    const { path } = file;
    if (path.startsWith('src-preload/contract/')) {
      if (found.kind === 'file')
        return found.target.startsWith('src-preload/contract/') ? undefined : 'the contract imports only itself';
      return found.target === 'zod' ? undefined : 'the contract imports only itself and zod';
    }
    if (path === 'src-preload/bridge.ts') {
      if (found.kind === 'file')
        return found.target.startsWith('src-preload/contract/') ? undefined : 'the bridge imports only the contract';
      return found.target === 'electron' ? undefined : 'the bridge imports only electron';
    }
    if (found.kind === 'builtin') return path.startsWith('src-renderer/') ? 'the renderer has no Node' : undefined;
    if (found.kind !== 'file') return undefined;
    const contract = found.target.startsWith('src-preload/contract/');
    if (path.startsWith('src-main/')) {
      const own = found.target.startsWith('src-main/') || found.target === 'package.json';
      return contract || own ? undefined : 'main sees itself and the contract';
    }
    if (path.startsWith('src-renderer/'))
      return contract || found.target.startsWith('src-renderer/')
        ? undefined
        : 'the renderer sees itself and the contract';
    return undefined;
  });
}

/** A feature imports `bridge`, `ui`, the contract and itself; `bridge` and `ui` import no feature and no frame. */
export function findFeatureViolations(tree: SourceTree): readonly Violation[] {
  return forEachImport(tree, (file, found) => {
    if (found.kind !== 'file') return undefined;
    const feature = /^src-renderer\/features\/([^/]+)\//.exec(file.path)?.[1];
    if (feature !== undefined) {
      const allowed = [
        'src-renderer/bridge/',
        'src-renderer/ui/',
        'src-preload/contract/',
        `src-renderer/features/${feature}/`,
      ];
      return allowed.some((prefix) => found.target.startsWith(prefix))
        ? undefined
        : 'a feature sees bridge, ui, contract and itself';
    }
    if (/^src-renderer\/(bridge|ui)\//.test(file.path) && /^src-renderer\/(features|app)\//.test(found.target)) {
      return 'bridge and ui stand below features and frame';
    }
    return undefined;
  });
}

/** Packages stay where they belong: the driver in sqlite/, electron in its shell, HTTP in transports/. */
export function findPackageViolations(tree: SourceTree): readonly Violation[] {
  return forEachImport(tree, (file, found) => {
    if (found.kind !== 'package' || !file.path.startsWith('src-')) return undefined;
    const home = packageHomes.find((entry) => entry.package.test(found.target));
    if (home === undefined || home.only.some((prefix) => file.path.startsWith(prefix))) return undefined;
    return `only ${home.only.join(' and ')} may`;
  });
}

/** Relative imports carry their ending and lead to a file; every other one is a dependency or a `node:` module. */
export function findUnresolvedImports(tree: SourceTree, dependencies: ReadonlySet<string>): readonly Violation[] {
  return forEachImport(tree, (file, found) => {
    if (!file.path.startsWith('src-')) return undefined;
    if (found.kind === 'builtin') return undefined;
    if (found.kind === 'package')
      return dependencies.has(found.target) ? undefined : 'not a dependency in package.json (and no alias is allowed)';
    if (!/\.(tsx?|css|svg|png|json)$/.test(found.target)) return 'a relative import carries its file ending';
    return !/\.tsx?$/.test(found.target) || tree.has(found.target) ? undefined : 'there is no such file';
  });
}

/** No circle of imports, not counting imports of types, which are gone when the program runs. */
export function findCycles(tree: SourceTree): readonly Violation[] {
  const next = new Map(
    tree.files.map((file) => [
      file.path,
      file.imports.filter((found) => found.kind === 'file' && !found.typeOnly).map((found) => found.target),
    ]),
  );
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push(`${[...trail.slice(trail.indexOf(path)), path].join(' → ')}: a circle of imports`);
      return;
    }
    if (done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return found;
}
