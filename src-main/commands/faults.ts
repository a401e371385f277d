import type { ChangesetId, ProposalId, RefName } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';

/** Said of a changeset that does not exist and of one in a project that the caller may not read, word for word. */
export function changesetNotFound(changesetId: ChangesetId, field: string): Fault {
  return new Fault(
    'CHANGESET_NOT_FOUND',
    `${field}: there is no such changeset. Take an id from the history of the project.`,
    { field, changeset_id: changesetId },
  );
}

/** Said of a proposal that does not exist and of one in a project that the caller may not read, word for word. */
export function proposalNotFound(proposalId: ProposalId): Fault {
  return new Fault(
    'PROPOSAL_NOT_FOUND',
    'proposal_id: there is no such proposal. List the proposals of the project to see what there is.',
    { field: 'proposal_id', proposal_id: proposalId },
  );
}

/** Said of a ref that the project does not have. */
export function refNotFound(refName: RefName, field: string): Fault {
  return new Fault('REF_NOT_FOUND', `${field}: the project has no such ref. List its refs to see what there is.`, {
    field,
    ref: refName,
  });
}
