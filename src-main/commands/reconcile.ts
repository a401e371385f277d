import { setImmediate as nextTick } from 'node:timers/promises';
import type { Ref } from '../../src-preload/contract/changeset.ts';
import type { ReconcileCheck, ReconcileReport } from '../../src-preload/contract/commands/operations.ts';
import type { ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import type { Advance } from '../../src-preload/contract/proposal.ts';
import { type CheckUnderWay, openCheck } from '../charon/reconcile.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import { type CommandDeps, isElsewhere } from './deps.ts';
import type { MemoryStore } from './memory-store.ts';

/** Whether everything of a home agrees, and what a crash left undecided. For the owner alone. */
export function reconcileCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { charon } = deps;
  return [
    bind(rowOf('engine.reconcile'), { run: () => reconcile(deps) }),
    bind(rowOf('engine.settle'), { run: () => charon.settleByHand() }),
    bind(rowOf('audit.ambiguous'), { run: () => ({ intents: [...charon.listAmbiguousIntents()] }) }),
  ];
}

/** Every check of `charon.md` §7 that needs no backup, one after the other; others work in between. Changes nothing. */
export async function reconcile(deps: CommandDeps): Promise<ReconcileReport> {
  const { charon } = deps;
  const checks: ReconcileCheck[] = [await checkFiles(deps), await checkLedger(deps), await checkProjects(deps)];
  checks.push(await charon.reconcileProposals());
  checks.push(await checkAdvances(deps));
  const ambiguous = [...charon.listAmbiguousIntents()];
  const open = openCheck('open_intents');
  for (const { seq, command } of ambiguous) {
    open.looked();
    open.find(
      `seq ${seq}`,
      `nobody can say whether ${command} was carried out. Look at what it is about, then settle it.`,
    );
  }
  checks.push(open.done());
  return { ok: checks.every(({ findings }) => findings.length === 0), checks, ambiguous };
}

async function checkFiles(deps: CommandDeps): Promise<ReconcileCheck> {
  const { charon, files } = deps;
  const check = openCheck('database_files');
  if (isElsewhere(deps))
    check.note(
      'the memory is in another process: the database file there is looked at by charon reconcile in its own home',
    );
  for (const [file, store] of [
    ['lethe.db', files],
    ['charon.db', charon],
  ] as const) {
    const { checked, findings } = await store.checkFile();
    for (let table = 0; table < checked; table += 1) check.looked();
    for (const { where, problem } of findings) check.find(`${file}, ${where}`, problem);
  }
  return check.done();
}

async function checkLedger({ charon }: CommandDeps): Promise<ReconcileCheck> {
  const { checked, findings, notes } = await charon.audit.verify();
  return { name: 'audit_ledger', checked, findings, notes };
}

/** The whole of every project: history, refs, merges, conflicts, manifests, derived indexes (`lethe.md` D12). */
async function checkProjects({ lethe }: CommandDeps): Promise<ReconcileCheck> {
  const check = openCheck('projects');
  for (const { project_id: projectId } of await lethe.listProjects()) {
    const report = await lethe.verifyChain(projectId);
    check.looked();
    for (const { where, problem } of report.findings) check.find(`project ${projectId}, ${where}`, problem);
    for (const note of report.notes) check.note(`project ${projectId}: ${note}`);
  }
  return check.done();
}

/** Every advance record has its proposal, and those of a protected ref lead from where it began to where it stands. */
async function checkAdvances(deps: CommandDeps): Promise<ReconcileCheck> {
  const check = openCheck('advances');
  for (const { project_id: projectId } of await deps.lethe.listProjects())
    await checkAdvancesOf(deps, projectId, check);
  return check.done();
}

async function checkAdvancesOf(deps: CommandDeps, projectId: ProjectId, check: CheckUnderWay): Promise<void> {
  const { charon, lethe } = deps;
  const { refs, newest } = await readNewest(lethe, projectId, check);
  const reached = new Map<string, string>(refs.map((ref) => [ref.ref_name, ref.head_changeset_id]));
  const seen = new Set<string>();
  for (let page = newest; ; ) {
    for (const { where, problem } of charon.findStrayAdvances(projectId, page, seen)) check.find(where, problem);
    for (const advance of page) follow(reached, advance, check);
    if (page.length < listLimitMax) break;
    await nextTick();
    page = await lethe.listAdvances(projectId, { limit: listLimitMax, cursor: page.at(-1)?.advance_id });
  }
  for (const { ref_name: name } of refs) {
    if (reached.get(name) !== (await findFirstHead(lethe, projectId, name)))
      check.find(`project ${projectId}, ref ${name}`, 'its advance records do not begin where the ref began');
  }
}

/** How often the newest records are read again when a merge comes in between. */
const readAgainMax = 20;

/** Protected refs and the newest records, of one moment: heads only move on, so the same before and after are those of between. */
async function readNewest(
  lethe: MemoryStore,
  projectId: ProjectId,
  check: CheckUnderWay,
): Promise<{ readonly refs: readonly Ref[]; readonly newest: readonly Advance[] }> {
  let refs = await listProtected(lethe, projectId);
  for (let round = 0; ; round += 1) {
    const newest = await lethe.listAdvances(projectId, { limit: listLimitMax });
    const after = await listProtected(lethe, projectId);
    const isOne = headsOf(refs) === headsOf(after);
    refs = after;
    if (isOne) return { refs, newest };
    if (round < readAgainMax) continue;
    check.note(`project ${projectId}: its protected refs move too fast to be looked at. Look again.`);
    return { refs: [], newest: [] };
  }
}

function headsOf(refs: readonly Ref[]): string {
  return JSON.stringify(refs.map(({ ref_name: name, head_changeset_id: head }) => [name, head]));
}

/** One step back along a ref: the record must lead to where the newer ones began. */
function follow(reached: Map<string, string>, advance: Advance, check: CheckUnderWay): void {
  check.looked();
  const where = `advance ${advance.advance_id}`;
  const next = reached.get(advance.ref_name);
  if (next === undefined) check.find(where, 'its ref is no protected ref of its project');
  else if (next !== advance.new_head) check.find(where, 'it does not lead to where the ref stood next');
  if (next !== undefined) reached.set(advance.ref_name, advance.expected_head);
}

async function listProtected(lethe: MemoryStore, projectId: ProjectId): Promise<readonly Ref[]> {
  const found: Ref[] = [];
  for (let after: RefName | undefined; ; ) {
    const page = await lethe.listRefs(projectId, { limit: listLimitMax, after, archived: true });
    found.push(...page.filter((ref) => ref.protected));
    after = page.at(-1)?.ref_name;
    if (page.length < listLimitMax) return found;
  }
}

/** Where a ref began: the head that its first signed move went to. */
async function findFirstHead(lethe: MemoryStore, projectId: ProjectId, refName: RefName): Promise<string> {
  let first = '';
  for (let cursor: string | undefined; ; ) {
    const page = await lethe.listRefMoves({ projectId, refName, limit: listLimitMax, cursor });
    first = page.moves.at(-1)?.to_head ?? first;
    cursor = page.nextCursor;
    if (cursor === undefined) return first;
    await nextTick();
  }
}
