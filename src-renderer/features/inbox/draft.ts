import type { CommandInput } from '../../../src-preload/contract/commands/table.ts';
import type { Resolution, ResolutionChoice } from '../../../src-preload/contract/conflict.ts';

/** How a conflict would be settled, as it stands on screen. */
export interface Draft {
  readonly choice: ResolutionChoice | undefined;
  readonly note: string;
  readonly content: string;
  readonly scope: string;
}

/** A draft on screen beside what the engine keeps. */
export interface Sheet {
  readonly draft: Draft;
  /** The key of the conflict that the draft was made for. */
  readonly subject: string;
  /** When what the engine keeps was drafted, as it was last seen here; undefined while it keeps nothing. */
  readonly seen: string | undefined;
  /** Changed on screen since it was last sent. */
  readonly dirty: boolean;
}

/** What is on screen is kept, is being kept, is not whole yet, could not be kept, or is about what the sides no longer say. */
export type DraftState = 'none' | 'unfinished' | 'saving' | 'saved' | 'refused' | 'moved';

type ResolutionInput = CommandInput<'proposal.draft_resolution'>['resolution'];

/** A sheet with what the engine keeps for a conflict, or an empty one. */
export function openSheet(conflictKey: string, kept: Resolution | undefined): Sheet {
  return { draft: draftOf(kept), subject: conflictKey, seen: kept?.drafted_at, dirty: false };
}

/**
 * The sheet once the engine has answered again; the same object when nothing follows. What another window kept is taken over where
 * nothing of this one is unsaved (`idle`). When the sides say something else by now, a draft stays, but for the old conflict:
 * nobody decided the new one yet.
 */
export function followEngine(
  sheet: Sheet,
  now: { readonly conflictKey: string; readonly kept: Resolution | undefined; readonly idle: boolean },
): Sheet {
  const { conflictKey, kept, idle } = now;
  if (conflictKey !== sheet.subject) {
    const nothingToLose = sheet.draft.choice === undefined || (kept !== undefined && idle && !sheet.dirty);
    return nothingToLose ? openSheet(conflictKey, kept) : sheet;
  }
  if (kept?.drafted_at === sheet.seen) return sheet;
  if (sheet.dirty || !idle || isOlder(kept, sheet.seen)) return { ...sheet, seen: kept?.drafted_at };
  const isSame =
    JSON.stringify(inputOf(conflictKey, sheet.draft)) === JSON.stringify(inputOf(conflictKey, draftOf(kept)));
  return isSame ? { ...sheet, seen: kept?.drafted_at } : openSheet(conflictKey, kept);
}

function isOlder(kept: Resolution | undefined, seen: string | undefined): boolean {
  return kept !== undefined && seen !== undefined && Date.parse(kept.drafted_at) < Date.parse(seen);
}

/** What the engine keeps, as it is edited. */
function draftOf(kept: Resolution | undefined): Draft {
  return {
    choice: kept?.choice,
    note: kept?.note ?? '',
    content: kept?.content ?? '',
    scope: kept?.scope ?? '',
  };
}

/** The draft as the engine takes it; undefined while something that it needs is missing. */
export function inputOf(conflictKey: string, draft: Draft): ResolutionInput | undefined {
  const { choice, note, content, scope } = draft;
  if (choice === undefined || (choice === 'edit' && content.trim() === '')) return undefined;
  return {
    conflict_key: conflictKey,
    choice,
    ...(note.trim() === '' ? {} : { note: note.trim() }),
    ...(choice === 'edit' ? { content } : {}),
    ...(choice === 'both' && scope.trim() !== '' ? { scope: scope.trim() } : {}),
  };
}

/** How what is on screen stands to what is kept. */
export function stateOf(
  { draft, subject, dirty }: Sheet,
  now: { readonly conflictKey: string; readonly busy: boolean; readonly refused: boolean },
): DraftState {
  if (draft.choice === undefined) return now.refused ? 'refused' : 'none';
  if (subject !== now.conflictKey) return 'moved';
  if (now.refused) return 'refused';
  if (inputOf(subject, draft) === undefined) return 'unfinished';
  return dirty || now.busy ? 'saving' : 'saved';
}
