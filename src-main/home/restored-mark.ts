import { rmSync } from 'node:fs';
import { z } from 'zod';
import { digestSchema, timestampSchema } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { HomePaths } from './home.ts';
import { readTextIfThere } from './private-file.ts';

const markSchema = z.strictObject({
  version: z.literal(1),
  /** Which restore: the name of its folder. */
  id: z.string().regex(/^[0-9a-f]{8}$/),
  restored_at: timestampSchema,
  manifest_digest: digestSchema,
  /** When the backup was made. */
  created_at: timestampSchema,
  /** The name of the backup of what was there before; null where that could not be made. */
  safety: z.string().nullable(),
  notes: z.array(z.string()),
});
/** Says that a home was restored and is read only until its owner has checked it (`charon.md` §7). */
export type RestoredMark = z.infer<typeof markSchema>;

/** The mark of a home, or undefined. A damaged one is HOME_INVALID: what it says must not be guessed. */
export function readRestoredMark(paths: HomePaths): RestoredMark | undefined {
  const text = readTextIfThere(paths.restored);
  if (text === undefined) return undefined;
  try {
    return markSchema.parse(JSON.parse(text));
  } catch (thrown) {
    throw new Fault(
      'HOME_INVALID',
      'restored.json of this home is damaged: it says that the home was restored and waits for your check. Put the file back as it was.',
      {},
      { cause: thrown },
    );
  }
}

/** The text of a mark. */
export function formatRestoredMark(mark: RestoredMark): string {
  return `${JSON.stringify(mark, null, 2)}\n`;
}

/** Takes the mark away: from the next start on the home is written to again. */
export function removeRestoredMark(paths: HomePaths): void {
  rmSync(paths.restored, { force: true });
}
