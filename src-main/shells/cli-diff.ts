import {
  type DiffCategory,
  type DiffItem,
  diffCategories,
  type SemanticDiff,
} from '../../src-preload/contract/diff.ts';
import { shortId, visibleLines } from './cli-text.ts';

const titles = {
  memories_added: 'Added',
  corrections_proposed: 'Corrected',
  records_superseded: 'Superseded',
  relationships_added: 'Relationships',
  decisions_changed: 'Decisions',
  tasks_or_flags_changed: 'Tasks and flags',
  duplicates_detected: 'Duplicates',
  permissions_or_visibility_affected: 'Visibility',
  evidence_added_or_removed: 'Evidence',
} as const satisfies Record<DiffCategory, string>;

/** A diff by meaning, for people: each change under the first heading that it belongs to. */
export function diffText(diff: SemanticDiff): string {
  const shown = new Set<string>();
  const parts: string[] = [];
  for (const category of diffCategories) {
    const items = diff[category].filter((item) => !shown.has(keyOf(item)));
    for (const item of items) shown.add(keyOf(item));
    if (items.length > 0) parts.push(`${titles[category]} (${items.length})\n${items.map(itemText).join('\n')}`);
  }
  if (parts.length === 0) parts.push('Nothing changed in meaning.');
  return parts.join('\n\n');
}

function keyOf(item: DiffItem): string {
  return `${item.changeset_id}:${item.op_ordinal}`;
}

function itemText(item: DiffItem): string {
  const lines = [
    `  ${visibleLines(item.memory_id, '')}  (${item.op_type} in ${shortId(item.changeset_id)} by ${visibleLines(item.author_principal, '')})`,
  ];
  const said = saidOf(item);
  if (said !== undefined) lines.push(visibleLines(said, '    '));
  const { before, after } = item;
  if (before !== null && after !== null && (before.content === after.content || item.op_type === 'add_relationship')) {
    lines.push(visibleLines(after.content, '      '));
    return lines.join('\n');
  }
  if (before !== null) lines.push(visibleLines(before.content, '    - '));
  if (after !== null) lines.push(visibleLines(after.content, '    + '));
  return lines.join('\n');
}

/** What an op says that no text of a memory does: the other memory that it names, and the rest of its payload. */
function saidOf({ op_type, resulting_event_id: resulting, payload = {} }: DiffItem): string | undefined {
  if (op_type === 'add_memory' || op_type === 'correct_memory' || op_type === 'supersede_memory') return undefined;
  const names = op_type === 'mark_duplicate' ? `duplicate of ${payload.duplicate_of ?? resulting ?? ''}` : undefined;
  const leads = op_type === 'add_relationship' ? `-> ${resulting ?? payload.to_memory_id ?? ''}` : undefined;
  const rest = Object.entries(payload).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [names, leads, ...rest].filter((part) => part !== undefined).join(', ');
}
