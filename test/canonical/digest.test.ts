import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  conflictId,
  conflictIdentity,
  conflictKey,
  memoryStatesDigest,
} from '../../src-main/canonical/conflict-digest.ts';
import {
  chainDigest,
  type DigestedChangeset,
  integrityDigest,
  integrityDigestV1,
  integrityPreimage,
  requestDigest,
  requestPreimage,
} from '../../src-main/canonical/digest.ts';
import { auditEntryHash, auditGenesisHash, proposalStateDigest } from '../../src-main/canonical/policy-digest.ts';

function hashed(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

const changeset: DigestedChangeset = {
  schema_version: 'memory_git/v1',
  project_id: 'demo',
  ref_name: 'refs/agents/a/main',
  parent_ids: ['p2', 'p1'],
  author_principal: 'alice',
  message: 'm',
  idempotency_key: 'k1',
  ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: 'hello' } }],
};

describe('changesets', () => {
  test('K8 parent order and parent set change the digest', () => {
    const digests = [['p2', 'p1'], ['p1', 'p2'], ['p1'], []].map((parent_ids) =>
      integrityDigest({ ...changeset, parent_ids }),
    );
    expect(new Set(digests).size).toBe(4);
  });

  test('K8 algorithm v1 sorts the parents by bytes and is otherwise the same', () => {
    expect(integrityDigestV1(changeset)).toBe(integrityDigest({ ...changeset, parent_ids: ['p1', 'p2'] }));
    expect(integrityDigestV1({ ...changeset, parent_ids: ['😀', '\ufffd'] })).toBe(
      integrityDigest({ ...changeset, parent_ids: ['\ufffd', '😀'] }),
    );
    expect(changeset.parent_ids).toEqual(['p2', 'p1']);
  });

  test('K7 no parents encode as null in the integrity digest and as [] in the request digest', () => {
    const root = { ...changeset, parent_ids: [] };
    expect(integrityPreimage(root)).toContain('"parent_ids":null');
    expect(requestPreimage(root)).toContain('"parent_ids":[]');
  });

  test('K7 empty ids and an empty payload count as absent, a stored JSON null stays null', () => {
    const sparse = {
      ...changeset,
      ops: [{ ordinal: 0, op_type: 'attach_evidence', target_event_id: '', resulting_event_id: '', payload: {} }],
    };
    expect(integrityPreimage(sparse)).toContain('"ops":[{"ordinal":0,"op_type":"attach_evidence"}]');
    expect(integrityPreimage({ ...changeset, evidence: null })).toContain('"evidence":null');
    expect(integrityPreimage({ ...changeset, evidence: [null] })).toContain('"evidence":[null]');
    expect(integrityPreimage({ ...changeset, ops: undefined })).toContain('"ops":[]');
  });

  test('K8 every covered field changes the digest', () => {
    const fields = [
      'schema_version',
      'project_id',
      'ref_name',
      'author_principal',
      'persona_id',
      'actor_id',
      'surface',
      'model',
      'environment',
      'session_id',
      'topic_id',
      'context_manifest_id',
      'message',
      'idempotency_key',
    ];
    const digests = fields.map((field) => integrityDigest({ ...changeset, [field]: 'other' }));
    expect(new Set([integrityDigest(changeset), ...digests]).size).toBe(fields.length + 1);
  });

  test('K8 the ref control fields belong to the request and not to the changeset', () => {
    const controls = [
      { expected_head: 'h' },
      { advance_ref: true },
      { create_ref_if_missing: true },
      { protected: true },
    ];
    const requests = controls.map((control) => requestDigest({ ...changeset, ...control }));
    expect(new Set([requestDigest(changeset), ...requests]).size).toBe(5);
    expect(integrityDigest({ ...changeset, ...controls[1] })).toBe(integrityDigest(changeset));
  });
});

describe('chains', () => {
  const link = { changeset_id: 'c', created_at: '2026-01-01T00:00:00.5Z', integrity_digest: 'd', parents: ['x', 'y'] };

  test('K9 the bytes are the domain, one LF and the canonical link', () => {
    expect(chainDigest(link)).toBe(
      hashed(
        'lethe/chain/v1\n{"changeset_id":"c","created_at":"2026-01-01T00:00:00.5Z","integrity_digest":"d","parents":["x","y"]}',
      ),
    );
  });

  test('K9 id, time, content and parents in their order are all covered', () => {
    const others = [
      { changeset_id: 'e' },
      { created_at: '2026-01-01T00:00:00.500Z' },
      { integrity_digest: 'e' },
      { parents: ['y', 'x'] },
      { parents: [] },
    ];
    expect(new Set([link, ...others.map((other) => ({ ...link, ...other }))].map(chainDigest)).size).toBe(6);
  });
});

describe('conflicts', () => {
  const conflict = { project_id: 'demo', left_changeset_id: 'L', right_changeset_id: 'R', summary: 's' };
  const identity = (conflict_type: string, details?: Record<string, string | number>) =>
    conflictIdentity({ ...conflict, conflict_type, ...(details ? { details } : {}) });

  test('K10 the three-way findings are identified by the memory', () => {
    for (const type of ['identity_collision', 'concurrent_edit', 'delete_modify']) {
      expect(identity(type, { memory_id: 'm1', left_content: 'x' })).toBe('m1');
    }
  });

  test('K10 details that are not text count as empty, and a boundary names its first foreign field', () => {
    expect(identity('trust_downgrade', { changeset_id: 7, target_event_id: 'm' })).toBe('|m');
    expect(identity('boundary_violation', { changeset_id: 'C' })).toBe('C');
    expect(identity('boundary_violation', { changeset_id: 'C', payload_actor: 'a', payload_project: 'p' })).toBe(
      'C|payload_project|p',
    );
    expect(identity('protected_decision', { scope: 's', left_event: '', right_event: 'b', left_content: 'x' })).toBe(
      's||b',
    );
    expect(identity('duplicate_content', { duplicate_content: '\u0085 a\ufeff ' })).toBe('a\ufeff');
    expect(identity('anything_else')).toBe('s');
  });

  test('K10 pairs are sorted by bytes', () => {
    expect(
      identity('incompatible_fact', { fact_key: 'k', scope: 's', left_content: '😀', right_content: '\ufffd' }),
    ).toBe('k|s|\ufffd|😀');
  });

  test('K10 an absent base is the empty text', () => {
    const stale = { ...conflict, conflict_type: 'stale_base' };
    expect(conflictId(stale)).toBe(conflictId({ ...stale, base_changeset_id: '' }));
    expect(conflictId(stale)).not.toBe(conflictId({ ...stale, base_changeset_id: 'B' }));
  });

  test('K10 the key stands on what the sides say, not on where they stand', () => {
    const left = memoryStatesDigest(
      new Map([
        ['m1', { content: 'a' }],
        ['m2', null],
      ]),
    );
    expect(
      memoryStatesDigest(
        new Map([
          ['m2', null],
          ['m1', { content: 'a' }],
        ]),
      ),
    ).toBe(left);
    expect(memoryStatesDigest(new Map([['m1', { content: 'a' }]]))).not.toBe(left);
    const key = {
      project_id: 'demo',
      conflict_type: 'concurrent_edit',
      identity: 'm1',
      left_state: left,
      right_state: 'r',
    };
    expect(conflictKey(key)).toBe(
      hashed(
        `lethe/memory-conflict-key/v1\n{"conflict_type":"concurrent_edit","identity":"m1","left_state":"${left}","project_id":"demo","right_state":"r"}`,
      ),
    );
    expect(conflictKey({ ...key, left_state: 'r', right_state: left })).not.toBe(conflictKey(key));
  });
});

describe('proposals', () => {
  const proposal = {
    proposal_id: 'P',
    kind: 'merge_request',
    project_id: 'demo',
    originator: 'principal_1',
    target_ref: 'refs/shared/main',
    base_changeset_id: 'B',
    head_changeset_id: 'H',
    message: 'a<b',
    conflicts: [
      { conflict_key: 'k2', status: 'open' },
      { conflict_key: 'k1', status: 'resolved' },
    ],
    resolutions: [
      { conflict_key: 'k1', choice: 'edit', ops: [{ op_type: 'correct_memory', payload: { b: 1, a: 2 } }] },
    ],
    selected_ops: [
      { changeset_id: 'c2', ordinal: 0 },
      { changeset_id: 'c1', ordinal: 10 },
      { changeset_id: 'c1', ordinal: 9 },
    ],
  };

  test('K11 the bytes are the domain, one LF and the sorted canonical state', () => {
    expect(proposalStateDigest(proposal)).toBe(
      hashed(
        'charon/proposal-state/v2\n{"base_changeset_id":"B","conflicts":[{"conflict_key":"k1","status":"resolved"},{"conflict_key":"k2","status":"open"}],' +
          '"head_changeset_id":"H","kind":"merge_request","message":"a<b","originator":"principal_1","project_id":"demo","proposal_id":"P",' +
          '"resolutions":[{"choice":"edit","conflict_key":"k1","ops":[{"op_type":"correct_memory","payload":{"a":2,"b":1}}]}],' +
          '"selected_ops":[{"changeset_id":"c1","ordinal":9},{"changeset_id":"c1","ordinal":10},{"changeset_id":"c2","ordinal":0}],"target_ref":"refs/shared/main"}',
      ),
    );
    expect(proposalStateDigest({ ...proposal, selected_ops: null })).not.toBe(proposalStateDigest(proposal));
  });

  test('K11 the order of the lists means nothing, and the caller keeps its own', () => {
    const turned = {
      ...proposal,
      conflicts: proposal.conflicts.toReversed(),
      selected_ops: proposal.selected_ops.toReversed(),
    };
    expect(proposalStateDigest(turned)).toBe(proposalStateDigest(proposal));
    expect(proposal.conflicts[0]?.conflict_key).toBe('k2');
  });

  test('K11 fields of a wider object are not signed', () => {
    const wider = {
      ...proposal,
      status: 'pending',
      conflicts: proposal.conflicts.map((conflict) => ({ ...conflict, summary: 's' })),
    };
    expect(proposalStateDigest(wider)).toBe(proposalStateDigest(proposal));
  });
});

test('K12 an audit entry is hashed with the hash before it', () => {
  const entry = { seq: 1, prev_hash: auditGenesisHash, principal: 'p', object_ids: ['b', 'a'], project: null };
  expect(auditEntryHash(entry)).toBe(
    hashed(`{"object_ids":["b","a"],"prev_hash":"${'0'.repeat(64)}","principal":"p","project":null,"seq":1}`),
  );
  expect(auditEntryHash({ ...entry, prev_hash: 'f'.repeat(64) })).not.toBe(auditEntryHash(entry));
});
