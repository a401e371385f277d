import type { JsonObject } from '../../src-preload/contract/json.ts';
import { domainDigest } from '../canonical/digest.ts';

/**
 * The digest of a row that no other digest covers: over every other column of it, under its table's name. It shows that a
 * byte was changed; who changes rows and digests together is seen by the audit ledger, not by this.
 */
export function rowDigest(
  table:
    | 'merge-authorization'
    | 'manifest'
    | 'event'
    | 'conflict'
    | 'conflict-event'
    | 'import'
    | 'imported-project'
    | 'imported-changeset'
    | 'imported-ref'
    | 'imported-record',
  columns: JsonObject & { readonly row_digest?: never },
): string {
  return domainDigest(`lethe/row/${table}/v1`, columns);
}
