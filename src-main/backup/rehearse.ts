import type { Rehearsal } from '../../src-preload/contract/commands/backup.ts';
import { toTimestamp } from '../base/clock.ts';
import { openFindings } from '../base/findings.ts';
import { removeFolder } from './folder.ts';
import { lookAt } from './inspect.ts';
import { makeReady } from './ready.ts';
import { manifestDigest } from './rules/manifest.ts';
import { verifyStores } from './stores.ts';
import { tick } from './ticks.ts';
import type { BackupTools } from './tools.ts';

/**
 * Restores a backup into a scratch folder as a restore would, up to the moment of the swap, and verifies what came of it: the same
 * heads, every history, the audit ledger one entry longer (R22). Leaves a tick in the home, and nothing of the scratch folder.
 */
export async function rehearse(
  directory: string,
  scratch: string,
  tools: BackupTools,
  headKeys: ReadonlySet<string> | undefined,
): Promise<Rehearsal> {
  const at = toTimestamp(tools.clock.nowMs());
  try {
    const { manifest, facts, findings, notes } = await lookAt(directory, scratch, tools, headKeys);
    const found = openFindings();
    found.absorb(findings);
    if (manifest !== undefined && facts !== undefined && findings.list.length === 0) {
      await makeReady(scratch, tools, { replaced: undefined, objects: [manifestDigest(manifest)] });
      const after = await verifyStores(scratch, tools);
      found.absorb(after.findings);
      if (JSON.stringify(after.facts?.projects) !== JSON.stringify(facts.projects))
        found.add('projects', 'their refs stand elsewhere once they are restored');
      if ((after.facts?.audit.seq ?? 0) <= facts.audit.seq) found.add('audit ledger', 'it does not go on');
    }
    if (manifest !== undefined && found.list.length === 0) tick(tools.paths, manifestDigest(manifest), at, 'rehearsed');
    return {
      ok: found.list.length === 0,
      findings: [...found.list],
      notes: [...notes],
      rehearsed_at: at,
      projects: facts?.projects.length ?? 0,
      refs: facts?.counts.refs ?? 0,
      changesets: facts?.counts.changesets ?? 0,
      audit_entries: facts?.audit.seq ?? 0,
    };
  } finally {
    removeFolder(scratch);
  }
}
