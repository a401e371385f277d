// Counts for the last line of `npm test`.

/** @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: number }} Counts */

/** @type {Counts} */
export const NONE = Object.freeze({ passed: 0, failed: 0, skipped: 0 });

/**
 * @param {Counts} a
 * @param {Counts} b
 * @returns {Counts}
 */
export function add(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/**
 * Counts of one run of vitest, from its JSON report and its exit code. A file that failed without a failed test of its
 * own (it could not be loaded, a hook threw) counts as one failed; so does a run that failed for no reason that the
 * report shows, and one that left no report.
 * @param {unknown} report the parsed report; null when there is none
 * @param {number} exitCode
 * @returns {Counts}
 */
export function countsOf(report, exitCode) {
  const files = filesOf(report);
  if (files === null) return { ...NONE, failed: 1 };
  let counts = NONE;
  for (const file of files) {
    const statuses = file.assertionResults.map((test) => test.status);
    const failed = statuses.filter((status) => status === 'failed').length;
    const passed = statuses.filter((status) => status === 'passed').length;
    const brokenFile = failed === 0 && file.status === 'failed' ? 1 : 0;
    counts = add(counts, { passed, failed: failed + brokenFile, skipped: statuses.length - passed - failed });
  }
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/**
 * @param {unknown} report
 * @returns {{ status: string, assertionResults: { status: string }[] }[] | null}
 */
function filesOf(report) {
  if (typeof report !== 'object' || report === null || !('testResults' in report)) return null;
  return Array.isArray(report.testResults) ? report.testResults : null;
}

/** The line itself: `12 passed, 0 failed, 1 skipped`. */
export function formatCounts(/** @type {Counts} */ counts) {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}
