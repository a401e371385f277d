import { Button } from '@mantine/core';
import { ArrowLeft, BookOpen, GitCompareArrows, Undo2 } from 'lucide-react';
import { useState } from 'react';
import type { Changeset } from '../../../src-preload/contract/changeset.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import { ChangeList } from '../../ui/change-list.tsx';
import { groupChanges, measureChanges } from '../../ui/changes.ts';
import { Id } from '../../ui/id.tsx';
import { MemoryText } from '../../ui/memory-text.tsx';
import { formatRoute } from '../../ui/routes.ts';
import { Loading, Refused, RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { stamp } from '../../ui/words.ts';
import { RawOps } from './raw-ops.tsx';
import { RevertDialog } from './revert-dialog.tsx';

interface ChangesetDetailProps {
  readonly changesetId: string;
  readonly nameOf: (principalId: string) => string;
}

/** One changeset: who, when, on which branch, from which parents, with which digests, and what it changed. */
export function ChangesetDetail({ changesetId, nameOf }: ChangesetDetailProps) {
  const answer = useEnginePages('memory.show', { id: changesetId });
  const [reverting, setReverting] = useState(false);
  if (answer.isPending) return <Loading what="the changeset" />;
  const pages = answer.data?.pages ?? [];
  const [changeset] = pages;
  if (changeset === undefined) {
    return answer.error === null ? null : <Refused refusal={answer.error} retry={() => void answer.refetch()} />;
  }
  const parent = changeset.parent_ids[0];
  return (
    <article className="mg-page" aria-label="Changeset">
      <a className="mg-history-back" href="#/history">
        <ArrowLeft size={14} aria-hidden /> All changesets
      </a>
      <h2 className="mg-changeset-title">
        <MemoryText text={changeset.message} />
      </h2>
      <div className="mg-changeset-actions">
        <Button
          component="a"
          variant="default"
          leftSection={<BookOpen size={14} aria-hidden />}
          href={formatRoute({ screen: 'memory', moment: { kind: 'changeset', id: changesetId } })}
        >
          Read memory as of here
        </Button>
        {parent !== undefined && (
          <Button
            component="a"
            variant="default"
            leftSection={<GitCompareArrows size={14} aria-hidden />}
            href={formatRoute({ screen: 'compare', base: parent, target: changesetId })}
          >
            Compare with its parent
          </Button>
        )}
        {parent !== undefined && (
          <Button variant="default" leftSection={<Undo2 size={14} aria-hidden />} onClick={() => setReverting(true)}>
            Revert…
          </Button>
        )}
        {reverting && <RevertDialog changeset={changeset} close={() => setReverting(false)} />}
      </div>
      <Facts changeset={changeset} nameOf={nameOf} />
      {parent === undefined ? (
        <p className="mg-quiet">The root of the project: nothing came before it.</p>
      ) : (
        <Effect base={parent} target={changesetId} nameOf={nameOf} />
      )}
      <RawOps
        ops={pages.flatMap((page) => page.ops ?? [])}
        more={answer.hasNextPage ? () => void answer.fetchNextPage() : undefined}
      />
    </article>
  );
}

function Facts({
  changeset,
  nameOf,
}: {
  readonly changeset: Changeset;
  readonly nameOf: (principalId: string) => string;
}) {
  const how = [changeset.model, changeset.surface, changeset.environment].filter(
    (word) => word !== undefined && word !== '',
  );
  return (
    <dl className="mg-pairs">
      <dt>Author</dt>
      <dd>
        <strong>{plainLine(nameOf(changeset.author_principal), 60)}</strong>
        {how.length > 0 && <> with {plainLine(how.join(', '), 120)}</>}
      </dd>
      <dt>When</dt>
      <dd>
        {stamp(changeset.created_at)} (<When at={changeset.created_at} />)
      </dd>
      <dt>Made on</dt>
      <dd className="mg-mono">{plainLine(changeset.ref_name, 200)}</dd>
      <dt>Changeset</dt>
      <dd>
        <Id id={changeset.changeset_id} of="changeset id" label={changeset.changeset_id} />
      </dd>
      {changeset.parent_ids.map((parent, index) => (
        <Parent key={parent} id={parent} label={changeset.parent_ids.length > 1 ? `Parent ${index + 1}` : 'Parent'} />
      ))}
      <dt>Integrity</dt>
      <dd>
        <Id id={changeset.integrity_digest} of="integrity digest" />
      </dd>
      <dt>Chain</dt>
      <dd>
        <Id id={changeset.chain_digest} of="chain digest" />
      </dd>
    </dl>
  );
}

function Parent({ id, label }: { readonly id: string; readonly label: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <Id id={id} of="parent changeset id" /> <a href={formatRoute({ screen: 'history', changesetId: id })}>show</a>
      </dd>
    </>
  );
}

interface EffectProps {
  readonly base: string;
  readonly target: string;
  readonly nameOf: (principalId: string) => string;
}

/** What changed in meaning between two changesets, page after page. */
export function Effect({ base, target, nameOf }: EffectProps) {
  const answer = useEnginePages('memory.diff', { base_changeset_id: base, target_changeset_id: target });
  if (answer.isPending) return <Loading what="the changes" />;
  const diffs = answer.data?.pages ?? [];
  if (diffs.length === 0) return answer.error === null ? null : <RefusedNotice refusal={answer.error} />;
  const groups = groupChanges(diffs);
  return (
    <>
      <p className="mg-changes-measure">
        {groups.length === 0 ? 'Nothing differs in meaning.' : measureChanges(groups)}
        {answer.hasNextPage && ' so far'}
      </p>
      <ChangeList diffs={diffs} nameOf={nameOf} />
      {answer.hasNextPage && (
        <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
          Load more changes
        </Button>
      )}
    </>
  );
}
