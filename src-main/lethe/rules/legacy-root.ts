import type { JsonObject } from '../../../src-preload/contract/json.ts';

/** The key of the synthetic root; no client may use it (`lethe.md` D1). */
export const legacyRootKey = 'legacy-root';

/** Author and actor of the synthetic root (`lethe.md` §3.5). */
export const legacyRootAuthor = 'system';

/** The fixed message of the synthetic root: its digest is pinned by a golden vector. */
export const legacyRootMessage = 'legacy-root: baseline for pre-Memory-Git events (no rewrite)';

/** The one evidence entry of the synthetic root. */
export const legacyRootEvidence: JsonObject = {
  kind: 'legacy_baseline',
  note: 'pre-existing events remain readable without ID rewrite',
};
