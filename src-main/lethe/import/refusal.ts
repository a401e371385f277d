import { Fault } from '../../base/fault.ts';
import { ForeignRowRefused } from '../rules/foreign-row.ts';

/** The refusal of a file, with its reason: nothing of it was written. */
export function importRefused(reason: string, data: Readonly<Record<string, unknown>> = {}): Fault {
  return new Fault('IMPORT_REFUSED', `The file is not imported: ${reason}. Nothing was written.`, { reason, ...data });
}

/** Runs what reads rows of a file; the first row that does not hold refuses the file, named with its reason. */
export function refusingRows<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof ForeignRowRefused) throw importRefused(thrown.reason);
    throw thrown;
  }
}
