import type { Caller } from '../../src-main/charon/api.ts';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { TempEngine } from './temp-engine.ts';

let keys = 0;

/** A new idempotency key. */
export function newKey(): string {
  keys += 1;
  return `key-${keys}`;
}

/** A project with its root. */
export async function startProject(engine: TempEngine, project: string): Promise<string> {
  const { ref } = await engine.run(engine.owner, 'memory.repo_init', { project });
  return ref.head_changeset_id;
}

/** A branch of the agent's own, at main or where it is told to. */
export async function branch(
  engine: TempEngine,
  caller: Caller,
  project: string,
  name: string,
  at?: string,
): Promise<{ readonly ref: string; readonly head: string }> {
  const head = at ?? (await engine.run(caller, 'memory.log', { project, limit: 1 })).changesets[0]?.changeset_id ?? '';
  const ref = `refs/agents/${caller.principal.actor_id}/${name}`;
  await engine.run(caller, 'memory.branch_create', { project, ref_name: ref, head_changeset_id: head });
  return { ref, head };
}

/** One commit that adds the given texts on top of a head. */
export function commit(
  engine: TempEngine,
  caller: Caller,
  project: string,
  at: { readonly ref: string; readonly head: string },
  ...contents: string[]
): Promise<CommandOutput<'memory.changeset_create'>> {
  return engine.run(caller, 'memory.changeset_create', commitInput(project, at, ...contents));
}

/** What `commit` sends, for tests that bend it. */
export function commitInput(
  project: string,
  at: { readonly ref: string; readonly head: string },
  ...contents: string[]
) {
  return {
    project,
    ref: at.ref,
    expected_head: at.head,
    parent_ids: [at.head],
    message: `adds ${contents.length}`,
    idempotency_key: newKey(),
    ops: contents.map((content, ordinal) => ({
      ordinal,
      op_type: 'add_memory' as const,
      payload: { content, kind: 'fact' },
    })),
  };
}

/** A branch with one commit, proposed for main. */
export async function proposal(
  engine: TempEngine,
  caller: Caller,
  project: string,
  name: string,
  ...contents: string[]
): Promise<CommandOutput<'memory.merge_propose'>> {
  const at = await branch(engine, caller, project, name);
  const changeset = await commit(engine, caller, project, at, ...contents);
  return engine.run(caller, 'memory.merge_propose', {
    project,
    target_ref: 'refs/shared/main',
    head_changeset_id: changeset.changeset_id,
    base_changeset_id: at.head,
    message: `please merge ${name}`,
    idempotency_key: newKey(),
  });
}
