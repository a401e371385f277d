import { z } from 'zod';
import { mainRefName } from '../../../src-preload/contract/ids.ts';
import {
  contextLimitDefault,
  contextLimitMax,
  listLimitDefault,
  listLimitMax,
} from '../../../src-preload/contract/limits.ts';
import type { MemoryContext } from '../../../src-preload/contract/memory.ts';
import { Fault } from '../../base/fault.ts';
import type { ContextInput, HeadSelector } from '../../lethe/api.ts';
import type { MemoryAnswer } from '../../lethe/memory.ts';
import { type Answer, json, refusal } from './answer.ts';
import { flagField, numberField, readBody, textField } from './body.ts';
import { bodyFilter, filterFields, moment, queryFilter } from './filter-params.ts';
import { refusalOfFault } from './refusal-text.ts';
import {
  type Asked,
  asChangeset,
  asProject,
  asRef,
  boundedName,
  boundedQuery,
  clampLimit,
  memoryParam,
  param,
  queryCursor,
  queryFlag,
  queryLimit,
  queryMoment,
  queryRef,
  queryText,
  type Route,
  type RouteDeps,
  required,
} from './route.ts';
import { sessionOfManifest } from './session-fields.ts';
import { encodeContext, encodeMatch, encodeMemory, encodeRelationship, encodeReport, encodeStep } from './wire.ts';

const contextBody = z.object({
  ref_name: textField,
  head_changeset_id: textField,
  query: textField,
  limit: numberField,
  at: textField,
  ...filterFields,
  excluded: flagField,
  cursor: textField,
  session_id: textField,
  actor_id: textField,
  create_manifest: flagField,
});

/** The state of memory at a head, and verification (`lethe.md` §1.2, §0.5). */
export function stateRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe } = deps;
  return [
    { method: 'GET', pattern: '/memory/{project}/context', answer: (asked) => getContext(deps, asked) },
    { method: 'POST', pattern: '/memory/{project}/context', reads: true, answer: (asked) => askContext(deps, asked) },
    { method: 'GET', pattern: '/memory/{project}/search', answer: (asked) => search(deps, asked) },
    { method: 'GET', pattern: '/memory/{project}/memories/{id}', answer: (asked) => getMemory(deps, asked) },
    { method: 'GET', pattern: '/memory/{project}/memories/{id}/lineage', answer: (asked) => getLineage(deps, asked) },
    {
      method: 'GET',
      pattern: '/memory/{project}/verify',
      unhurried: true,
      answer: async (asked) => {
        const isFull = queryFlag(asked, 'full');
        return json(encodeReport(await lethe.verifyChain(asProject(param(asked, 'project')), undefined, { isFull })));
      },
    },
  ];
}

/** The head that a query names: `head`, `at`, or where `ref` (else main) stands now. */
function selectorOf(asked: Asked): HeadSelector {
  const head = queryText(asked, 'head');
  return {
    projectId: asProject(param(asked, 'project')),
    refName: queryRef(asked),
    headChangesetId: head === '' ? undefined : asChangeset(head),
    at: queryMoment(asked),
  };
}

function getContext(deps: RouteDeps, asked: Asked): Answer | Promise<Answer> {
  return answerContext(deps, {
    ...selectorOf(asked),
    query: boundedQuery('query', queryText(asked, 'query')),
    limit: queryLimit(asked, contextLimitDefault, contextLimitMax, contextLimitMax),
    ...queryFilter(asked),
    excluded: queryFlag(asked, 'excluded'),
    cursor: queryCursor(asked),
  });
}

function askContext(deps: RouteDeps, asked: Asked): Promise<Answer> {
  const body = readBody(asked.body, contextBody);
  const input: ContextInput = {
    projectId: asProject(param(asked, 'project')),
    refName: asRef(body.ref_name || mainRefName),
    headChangesetId: body.head_changeset_id === '' ? undefined : asChangeset(body.head_changeset_id),
    at: moment('at', body.at),
    query: boundedQuery('query', body.query),
    limit: clampLimit(body.limit, contextLimitDefault, contextLimitMax, contextLimitMax),
    ...bodyFilter(body),
    excluded: body.excluded,
    cursor: body.cursor || undefined,
  };
  const actorId = boundedName('actor_id', body.actor_id);
  const named = boundedName('session_id', body.session_id);
  if (!body.create_manifest) return answerContext(deps, input);
  return answerContext(deps, input, { actorId, sessionId: sessionOfManifest(deps, input.projectId, named) });
}

/** A context, pinned when `pin` says for whom. What no head of the ref reaches is 400, and so is a damaged history (§1.2). */
async function answerContext(
  { lethe, metrics, monotonicMs }: RouteDeps,
  input: ContextInput,
  pin?: { readonly actorId: string; readonly sessionId: string },
): Promise<Answer> {
  const startedMs = monotonicMs();
  try {
    const context: MemoryContext =
      pin === undefined ? lethe.context(input) : await lethe.pinContext({ ...input, ...pin });
    metrics.count('contexts');
    metrics.count('contextChangesets', new Set(context.memories.map((memory) => memory.last_changeset_id)).size);
    metrics.count('contextMs', Math.max(0, monotonicMs() - startedMs));
    return json(encodeContext(context));
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    if (thrown.code === 'CHANGESET_NOT_FOUND')
      return {
        ...refusal(400, `head changeset ${input.headChangesetId} is not reachable from ref ${input.refName}`),
        fault: thrown,
      };
    if (thrown.code === 'INTEGRITY_MISMATCH') return { ...refusalOfFault(thrown), status: 400 };
    throw thrown;
  }
}

function search({ lethe }: RouteDeps, asked: Asked): Answer {
  const found = lethe.search({
    ...selectorOf(asked),
    query: boundedQuery('q', required('q', queryText(asked, 'q'))),
    limit: queryLimit(asked, contextLimitDefault, contextLimitMax, contextLimitMax),
    ...queryFilter(asked),
    cursor: queryCursor(asked),
  });
  return json({
    complete: found.complete,
    head_changeset_id: found.headChangesetId,
    matches: found.matches.map(encodeMatch),
    ...(found.nextCursor === undefined ? {} : { next_cursor: found.nextCursor }),
  });
}

/** One memory at `head` outright, else where `ref` (else main) stands, or stood `at` a moment. */
function readMemory({ lethe }: RouteDeps, asked: Asked): MemoryAnswer {
  const { headChangesetId, ...selector } = selectorOf(asked);
  lethe.getProject(selector.projectId);
  const limit = queryLimit(asked, listLimitDefault, listLimitMax, listLimitMax);
  const page = { limit, cursor: queryCursor(asked) };
  return lethe.getMemory({ ...selector, headChangesetId, memoryId: memoryParam(asked), ...page });
}

function getMemory(deps: RouteDeps, asked: Asked): Answer {
  const { memory, exclusionReason, relationships, lineage, nextCursor, headChangesetId } = readMemory(deps, asked);
  return json({
    ...(exclusionReason === undefined ? {} : { exclusion_reason: exclusionReason }),
    head_changeset_id: headChangesetId,
    ...(queryFlag(asked, 'lineage') ? { lineage: lineage.map(encodeStep) } : {}),
    memory: encodeMemory(memory),
    relationships: relationships.map(encodeRelationship),
    ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
  });
}

function getLineage(deps: RouteDeps, asked: Asked): Answer {
  const { memory, lineage, nextCursor, headChangesetId } = readMemory(deps, asked);
  return json({
    head_changeset_id: headChangesetId,
    lineage: lineage.map(encodeStep),
    memory_id: memory.memory_id,
    ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
  });
}
