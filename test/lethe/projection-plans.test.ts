import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attachmentQueries } from '../../src-main/lethe/tables/attachments.ts';
import { placeQueries } from '../../src-main/lethe/tables/chains.ts';
import { idQueries } from '../../src-main/lethe/tables/memory-ids.ts';
import { relationshipQueries } from '../../src-main/lethe/tables/relationships.ts';
import { touchQueries } from '../../src-main/lethe/tables/touches.ts';
import { versionQueries } from '../../src-main/lethe/tables/versions.ts';
import { openTempLethe, type TempLethe } from '../support/history-builder.ts';

let temp: TempLethe;
beforeAll(() => {
  temp = openTempLethe();
});
afterAll(() => temp.remove());

function planOf(sql: string): string {
  return temp.db.explain(sql.replace(/\?/g, '1')).join('; ');
}

describe('query plans of the derived index', () => {
  test.each([
    [touchQueries.newest, 'SEARCH memory_touches USING PRIMARY KEY (memory=? AND key<?)'],
    [touchQueries.exact, 'SEARCH memory_touches USING PRIMARY KEY (memory=? AND key=?)'],
    [
      touchQueries.nextChain,
      'SEARCH memory_touches USING COVERING INDEX memory_touches_by_memory_chain (memory=? AND chain>?)',
    ],
    [
      touchQueries.newestOfChain,
      'SEARCH memory_touches USING INDEX memory_touches_by_memory_chain (memory=? AND chain=? AND key<?)',
    ],
    [
      touchQueries.ofChainAscending,
      'SEARCH memory_touches USING INDEX memory_touches_by_chain (chain=? AND key>? AND key<?)',
    ],
    [
      touchQueries.ofChainDescending,
      'SEARCH memory_touches USING INDEX memory_touches_by_chain (chain=? AND key>? AND key<?)',
    ],
    [touchQueries.ofMemory, 'SEARCH memory_touches USING PRIMARY KEY (memory=? AND key>? AND key<?)'],
    [
      touchQueries.ofMemoryInChain,
      'SEARCH memory_touches USING INDEX memory_touches_by_memory_chain (memory=? AND chain=? AND key>? AND key<?)',
    ],
    [touchQueries.linked, 'SEARCH memory_touches USING INDEX memory_touches_linked (memory=? AND key<?)'],
    [
      touchQueries.duplicatesOfChain,
      'SEARCH memory_touches USING INDEX memory_duplicates_by_chain (chain=? AND key>? AND key<?)',
    ],
    [placeQueries.bySeq, 'SEARCH memory_places USING INTEGER PRIMARY KEY (rowid=?)'],
    [
      placeQueries.byPosition,
      'SEARCH memory_places USING COVERING INDEX memory_places_by_chain (chain=? AND position=?)',
    ],
    [placeQueries.back, 'SEARCH memory_places USING INDEX memory_places_by_chain (chain=? AND position<?)'],
    [placeQueries.lastChain, 'SCAN memory_places USING COVERING INDEX memory_places_by_chain'],
    [attachmentQueries.byOp, 'SEARCH memory_attachments USING INTEGER PRIMARY KEY (rowid=?)'],
    [attachmentQueries.ofOps, 'SEARCH memory_attachments USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
    [relationshipQueries.byOp, 'SEARCH memory_relationships USING INTEGER PRIMARY KEY (rowid=?)'],
    [relationshipQueries.ofOps, 'SEARCH memory_relationships USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
    [
      relationshipQueries.ofChain,
      'SEARCH memory_relationships USING INDEX memory_relationships_by_chain (chain=? AND op>? AND op<?)',
    ],
    [relationshipQueries.endsOfOps, 'SEARCH memory_relationship_ends USING PRIMARY KEY (op>? AND op<?)'],
    [
      relationshipQueries.newestOfMemory,
      'SEARCH memory_relationship_ends USING COVERING INDEX memory_relationship_ends_by_memory (memory=? AND op<?)',
    ],
    [
      relationshipQueries.nextChain,
      'SEARCH memory_relationship_ends USING COVERING INDEX memory_relationship_ends_by_chain (memory=? AND chain>?)',
    ],
    [
      relationshipQueries.newestOfChain,
      'SEARCH memory_relationship_ends USING COVERING INDEX memory_relationship_ends_by_chain (memory=? AND chain=? AND op>? AND op<?)',
    ],
    [
      relationshipQueries.related,
      'SCAN wanted VIRTUAL TABLE INDEX 1:; SEARCH e EXISTS USING COVERING INDEX memory_relationship_ends_by_chain (memory=?)',
    ],
    [versionQueries.wanted, 'SCAN wanted VIRTUAL TABLE INDEX 1:; SEARCH v USING INTEGER PRIMARY KEY (rowid=?)'],
    [versionQueries.wantedPayloads, 'SCAN wanted VIRTUAL TABLE INDEX 1:; SEARCH p USING INTEGER PRIMARY KEY (rowid=?)'],
    [idQueries.wantedChosen, 'SCAN wanted VIRTUAL TABLE INDEX 1:; SEARCH i USING INTEGER PRIMARY KEY (rowid=?)'],
    [idQueries.wantedChangesets, 'SCAN wanted VIRTUAL TABLE INDEX 1:; SEARCH c USING INTEGER PRIMARY KEY (rowid=?)'],
    [
      'SELECT number FROM memory_ids WHERE project_id = ? AND memory_id = ?',
      'SEARCH memory_ids USING COVERING INDEX sqlite_autoindex_memory_ids_1 (project_id=? AND memory_id=?)',
    ],
  ])('L109 %s seeks and sorts nothing', (sql, plan) => {
    expect(planOf(sql)).toBe(plan);
  });
});
