import { z } from 'zod';
import type { Ref } from '../../../src-preload/contract/changeset.ts';
import { type ProjectId, protectedRefPrefix, type RefName } from '../../../src-preload/contract/ids.ts';
import { listLimitDefault, listLimitMax } from '../../../src-preload/contract/limits.ts';
import { assert } from '../../base/assert.ts';
import { Fault } from '../../base/fault.ts';
import { type Answer, json, refusal } from './answer.ts';
import { flagField, readBody, textField } from './body.ts';
import { mergeNeeds, refusalOfFault } from './refusal-text.ts';
import {
  type Asked,
  asChangeset,
  asProject,
  asProposal,
  asRef,
  boundedName,
  param,
  queryCursor,
  queryFlag,
  queryLimit,
  queryRef,
  queryText,
  type Route,
  type RouteDeps,
  required,
} from './route.ts';
import { encodeAdvance, encodeChangeset, encodeMove, encodeProject, encodeRef } from './wire.ts';

const branchBody = z.object({
  ref_name: textField,
  head_changeset_id: textField,
  principal: textField,
  protected: flagField,
});
const advanceBody = z.object({ ref_name: textField, expected_head: textField, new_head: textField });
const archiveBody = z.object({ ref_name: textField, expected_head: textField, principal: textField });
const mergeBody = z.object({
  ref_name: textField,
  expected_head: textField,
  new_head: textField,
  merge_proposal_id: textField,
  reviewer_principal: textField,
  merge_authorization: textField,
});

/** Who signs for what a gateway moved without saying for whom: one key, no identity of its own (`lethe.md` §1.5). */
const gatewayPrincipal = 'gateway';
/** Who starts a project (`lethe.md` §3.5). */
const systemPrincipal = 'system';

/** Projects and refs (`lethe.md` §1.2, §0.5). */
export function refRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe } = deps;
  const advance = (asked: Asked): Promise<Answer> => advanceRef(deps, asked);
  return [
    {
      method: 'GET',
      pattern: '/memory/projects',
      answer: () => json({ projects: lethe.listProjects().map(encodeProject) }),
    },
    {
      method: 'POST',
      pattern: '/memory/{project}/legacy-root',
      ignoresBody: true,
      answer: (asked) => startProject(deps, asked),
    },
    { method: 'POST', pattern: '/memory/{project}/branches', answer: (asked) => createBranch(deps, asked) },
    {
      method: 'GET',
      pattern: '/memory/{project}/refs',
      answer: (asked) => json(listRefs(deps, asked).map(encodeRef)),
    },
    {
      method: 'GET',
      pattern: '/memory/{project}/refs/resolve',
      answer: (asked) => {
        const name = queryText(asked, 'name');
        if (name === '') return refusal(400, 'ref name required');
        return json(encodeRef(getRef(deps, projectOf(asked), asRef(name))));
      },
    },
    {
      method: 'GET',
      pattern: '/memory/{project}/refs/{ref}',
      answer: (asked) => json(encodeRef(getRef(deps, projectOf(asked), asRef(param(asked, 'ref'))))),
    },
    { method: 'POST', pattern: '/memory/{project}/refs/advance', answer: advance },
    { method: 'POST', pattern: '/memory/{project}/refs/archive', answer: (asked) => archiveRef(deps, asked) },
    { method: 'POST', pattern: '/memory/{project}/refs/merge', answer: (asked) => mergeRef(deps, asked) },
    { method: 'POST', pattern: '/memory/{project}/refs/{ref}/advance', answer: advance },
    { method: 'GET', pattern: '/memory/{project}/advances', answer: (asked) => listAdvances(deps, asked) },
    { method: 'GET', pattern: '/memory/{project}/ref-moves', answer: (asked) => listMoves(deps, asked) },
  ];
}

function projectOf(asked: Asked): ProjectId {
  return asProject(param(asked, 'project'));
}

function getRef({ lethe }: RouteDeps, projectId: ProjectId, refName: RefName): Ref {
  const ref = lethe.findRef(projectId, refName);
  if (ref !== undefined) return ref;
  throw new Fault('REF_NOT_FOUND', 'ref: there is no such ref in this project.', { ref: refName });
}

/** Refs of a project in name order: every one, or a page of them when `limit` or `after` asks for one. Throws PROJECT_NOT_FOUND for a page. */
function listRefs(deps: RouteDeps, asked: Asked): readonly Ref[] {
  const archived = queryFlag(asked, 'archived');
  const [limit, after] = [queryText(asked, 'limit'), queryText(asked, 'after')];
  if (limit === '' && after === '') return listAllRefs(deps, projectOf(asked), archived);
  return deps.lethe.listRefs(projectOf(asked), {
    limit: queryLimit(asked, listLimitDefault, listLimitMax, listLimitMax),
    after: after === '' ? undefined : asRef(after),
    archived,
  });
}

/** Every ref of a project, those that are archived when asked for; none of one that does not exist, as the reference has it. */
function listAllRefs({ lethe }: RouteDeps, projectId: ProjectId, archived: boolean): readonly Ref[] {
  const found: Ref[] = [];
  try {
    for (let after: RefName | undefined; ; ) {
      const page = lethe.listRefs(projectId, { limit: listLimitMax, after, archived });
      found.push(...page);
      after = page.at(-1)?.ref_name;
      if (page.length < listLimitMax) return found;
    }
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'PROJECT_NOT_FOUND') return [];
    throw thrown;
  }
}

/** The project with its root; of one that exists, the changeset that main stands at (`lethe.md` §1.2). */
async function startProject({ lethe }: RouteDeps, asked: Asked): Promise<Answer> {
  const started = await lethe.initProject({ projectId: projectOf(asked), principal: systemPrincipal });
  const head = lethe.findChangeset(started.ref.head_changeset_id);
  assert(head !== undefined, 'a ref stands at a stored changeset');
  return json({ changeset: encodeChangeset(head), ref: encodeRef(started.ref) });
}

/** 400 for every failure that is the caller's (`lethe.md` §1.2). */
async function createBranch({ lethe }: RouteDeps, asked: Asked): Promise<Answer> {
  try {
    const body = readBody(asked.body, branchBody);
    const refName = asRef(required('ref_name', body.ref_name));
    const headChangesetId = asChangeset(required('head_changeset_id', body.head_changeset_id));
    const principal = boundedName('principal', body.principal);
    if (body.protected) throw protectedRef(refName);
    const ref = await lethe.createRef({ projectId: projectOf(asked), refName, headChangesetId, principal });
    return json(encodeRef(ref), 201);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.kind === 'unavailable' || thrown.kind === 'read_only') throw thrown;
    return { ...refusalOfFault(thrown), status: 400 };
  }
}

function protectedRef(refName: string): Fault {
  return new Fault('PROTECTED_REF', 'protected ref requires merge path', { ref: refName });
}

async function advanceRef({ lethe }: RouteDeps, asked: Asked): Promise<Answer> {
  const body = readBody(asked.body, advanceBody);
  const refName = asRef(required('ref_name', param(asked, 'ref') || body.ref_name));
  if (refName.startsWith(protectedRefPrefix)) throw protectedRef(refName);
  const ref = await lethe.fastForward({
    projectId: projectOf(asked),
    refName,
    expectedHead: asChangeset(required('expected_head', body.expected_head)),
    newHead: asChangeset(required('new_head', body.new_head)),
    principal: gatewayPrincipal,
  });
  return json(encodeRef(ref));
}

/** Ends a ref where it stands (`lethe.md` §0.5). */
async function archiveRef({ lethe }: RouteDeps, asked: Asked): Promise<Answer> {
  const body = readBody(asked.body, archiveBody);
  const refName = asRef(required('ref_name', body.ref_name));
  const expectedHead = asChangeset(required('expected_head', body.expected_head));
  const ref = await lethe.archiveRef({
    projectId: projectOf(asked),
    refName,
    expectedHead,
    principal: boundedName('principal', body.principal) || gatewayPrincipal,
  });
  return json(encodeRef(ref));
}

/** The protected move, in the order of `lethe.md` §8. */
async function mergeRef({ lethe, metrics }: RouteDeps, asked: Asked): Promise<Answer> {
  const body = readBody(asked.body, mergeBody);
  const projectId = projectOf(asked);
  const refName = asRef(body.ref_name);
  const isWhole = [body.merge_proposal_id, body.reviewer_principal, body.merge_authorization].every(
    (text) => text !== '',
  );
  if (!isWhole || lethe.findRef(projectId, refName)?.protected !== true) return refusal(400, mergeNeeds);
  const { ref } = await lethe.advance({
    projectId,
    refName,
    expectedHead: asChangeset(required('expected_head', body.expected_head)),
    newHead: asChangeset(required('new_head', body.new_head)),
    mergeProposalId: asProposal(body.merge_proposal_id),
    reviewerPrincipal: body.reviewer_principal,
    mergeAuthorization: body.merge_authorization,
  });
  metrics.count('merges');
  return json(encodeRef(ref));
}

/** A page of the advances of a project, or the one of a proposal. */
function listAdvances({ lethe }: RouteDeps, asked: Asked): Answer {
  const proposal = queryText(asked, 'proposal_id');
  if (proposal !== '') {
    const advance = lethe.findAdvance({ projectId: projectOf(asked), proposalId: asProposal(proposal) });
    return json({ advances: advance === undefined ? [] : [encodeAdvance(advance)] });
  }
  const found = lethe.listAdvances(projectOf(asked), { limit: listLimitDefault + 1, cursor: queryCursor(asked) });
  const page = found.slice(0, listLimitDefault);
  const next = found.length > page.length ? page.at(-1)?.advance_id : undefined;
  return json({ advances: page.map(encodeAdvance), ...(next === undefined ? {} : { next_cursor: next }) });
}

function listMoves({ lethe }: RouteDeps, asked: Asked): Answer {
  const { moves, nextCursor } = lethe.listRefMoves({
    projectId: projectOf(asked),
    refName: queryRef(asked),
    limit: listLimitDefault,
    cursor: queryCursor(asked),
  });
  return json({
    ref: queryRef(asked),
    ref_moves: moves.map(encodeMove),
    ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
  });
}
