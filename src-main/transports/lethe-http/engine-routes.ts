import { z } from 'zod';
import type { GraphNode } from '../../../src-preload/contract/changeset.ts';
import { listLimitDefault, listLimitMax } from '../../../src-preload/contract/limits.ts';
import type { MergePreview } from '../../../src-preload/contract/proposal.ts';
import { Fault } from '../../base/fault.ts';
import type { Ordered } from '../../canonical/json.ts';
import { type Answer, json } from './answer.ts';
import { readBody, textField, textsField } from './body.ts';
import {
  type Asked,
  asChangeset,
  asProject,
  boundedName,
  invalid,
  param,
  queryCursor,
  queryLimit,
  queryText,
  type Route,
  type RouteDeps,
  required,
} from './route.ts';
import { encodeChangeset, encodeProject, encodeRef, struct } from './wire.ts';

const startBody = z.object({ principal: textField });
const apartBody = z.object({ base: textField, heads: textsField });

/**
 * What a policy engine in another process asks of the store beside what every gateway does (`lethe.md` §0.5, `charon.md` §7):
 * reads that decide a merge, and a start that says for whom. Under the same guards and key as every route.
 */
export function engineRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe } = deps;
  const changeset = (asked: Asked) => asChangeset(param(asked, 'id'));
  return [
    {
      method: 'GET',
      pattern: '/memory/changesets/{id}/contains',
      answer: (asked) => json({ contains: lethe.isAncestor(asChangeset(named(asked, 'ancestor')), changeset(asked)) }),
    },
    {
      method: 'GET',
      pattern: '/memory/changesets/{id}/originators',
      answer: (asked) => json({ originators: lethe.originators(asChangeset(named(asked, 'from')), changeset(asked)) }),
    },
    {
      method: 'GET',
      pattern: '/memory/changesets/{id}/total-active',
      answer: (asked) => json({ total_active: lethe.totalActive(changeset(asked)) }),
    },
    {
      method: 'GET',
      pattern: '/memory/{project}/project',
      answer: (asked) => json(encodeProject(lethe.getProject(projectOf(asked)))),
    },
    { method: 'POST', pattern: '/memory/{project}/start', answer: (asked) => start(deps, asked) },
    { method: 'GET', pattern: '/memory/{project}/changeset', answer: (asked) => findByKey(deps, asked) },
    { method: 'GET', pattern: '/memory/{project}/graph', answer: (asked) => readGraph(deps, asked) },
    {
      method: 'GET',
      pattern: '/memory/{project}/merge-preview',
      answer: (asked) => {
        const targetHead = asChangeset(named(asked, 'target_head'));
        const head = asChangeset(named(asked, 'head'));
        return json(encodePreview(lethe.mergePreview({ projectId: projectOf(asked), targetHead, head })));
      },
    },
    {
      method: 'POST',
      pattern: '/memory/{project}/ahead-behind',
      reads: true,
      answer: (asked) => countApart(deps, asked),
    },
  ];
}

function projectOf(asked: Asked) {
  return asProject(param(asked, 'project'));
}

function named(asked: Asked, name: string): string {
  return required(name, queryText(asked, name));
}

/** The project with its root, also of one that exists. */
async function start({ lethe }: RouteDeps, asked: Asked): Promise<Answer> {
  const { principal } = readBody(asked.body, startBody);
  const started = await lethe.initProject({
    projectId: projectOf(asked),
    principal: boundedName('principal', required('principal', principal)),
  });
  const { changeset, ref, created } = started;
  return json({ changeset: encodeChangeset(changeset), created, ref: encodeRef(ref) });
}

/** The changeset that an author made under a key. */
function findByKey({ lethe }: RouteDeps, asked: Asked): Answer {
  const [author, key] = [named(asked, 'author'), named(asked, 'key')];
  const changeset = lethe.findChangesetByKey(projectOf(asked), author, key);
  if (changeset !== undefined) return json(encodeChangeset(changeset));
  throw new Fault('CHANGESET_NOT_FOUND', 'key: no changeset of this author was made under it.', { field: 'key' });
}

function readGraph({ lethe }: RouteDeps, asked: Asked): Answer {
  const limit = queryLimit(asked, listLimitDefault, listLimitMax, listLimitMax);
  const page = lethe.graph({ projectId: projectOf(asked), limit, cursor: queryCursor(asked) });
  const more = page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor };
  return json({ ...more, nodes: page.nodes.map(encodeNode) });
}

function countApart({ lethe }: RouteDeps, asked: Asked): Answer {
  const { base, heads } = readBody(asked.body, apartBody);
  if (heads.length > listLimitMax) throw invalid('heads', `heads: at most ${listLimitMax} at once`);
  const input = {
    projectId: projectOf(asked),
    base: asChangeset(required('base', base)),
    heads: heads.map(asChangeset),
  };
  return json({ apart: lethe.countAheadBehind(input).map(({ ahead, behind }) => struct({ ahead, behind })) });
}

function encodePreview(preview: MergePreview): Ordered {
  const { target_head, strategy, target_ahead, proposal_ahead, contested_memory_ids, contested_total } = preview;
  return struct({ target_head, strategy, target_ahead, proposal_ahead, contested_memory_ids, contested_total });
}

function encodeNode(node: GraphNode): Ordered {
  const { changeset_id, parent_ids, ref_name, author_principal, actor_id, model, message, created_at, op_count } = node;
  return struct({
    changeset_id,
    parent_ids,
    ref_name,
    author_principal,
    actor_id,
    model,
    message,
    created_at,
    op_count,
  });
}
