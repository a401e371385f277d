import { afterEach, beforeEach, expect, test } from 'vitest';
import { diffText } from '../../src-main/shells/cli-diff.ts';
import {
  addAs,
  attachEvidence,
  correct,
  deprecate,
  duplicate,
  historyBuilder,
  openTempLethe,
  relate,
  type TempLethe,
} from '../support/history-builder.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

test('a diff says for each op what it did, and a text that did not change once', async () => {
  const history = historyBuilder(temp);
  await history.init();
  await history.branch('refs/topics/work');
  const base = await history.commit('refs/topics/work', [
    addAs('a', 'first'),
    addAs('b', 'second'),
    addAs('c', 'third'),
    addAs('d', 'fourth'),
  ]);
  const target = await history.commit('refs/topics/work', [
    correct('a', { content: 'first, corrected' }),
    relate('b', 'supports', 'a'),
    duplicate('c', 'a'),
    deprecate('d', 'it is over'),
    attachEvidence('b', { source: 'page 3' }),
  ]);
  const text = diffText(
    temp.lethe.diff({
      baseChangesetId: base.changeset_id,
      targetChangesetId: target.changeset_id,
      side: 'both',
      limit: 50,
    }),
  );
  const place = text.match(/in (\S+) by (\S+)\)/);
  const by = `in ${place?.[1]} by ${place?.[2]}`;
  expect(text).toBe(
    [
      `Corrected (1)\n  a  (correct_memory ${by})\n    - first\n    + first, corrected`,
      `Relationships (1)\n  b  (add_relationship ${by})\n    -> a, kind: supports\n      second`,
      `Decisions (1)\n  d  (propose_deprecation ${by})\n    reason: it is over\n      fourth`,
      `Duplicates (1)\n  c  (mark_duplicate ${by})\n    duplicate of a\n    - third`,
      `Evidence (1)\n  b  (attach_evidence ${by})\n    source: page 3\n      second`,
    ].join('\n\n'),
  );
});
