import { z } from 'zod';
import type { BridgeAnswer } from '../../../src-preload/contract/bridge.ts';
import type { EngineEvent } from '../../../src-preload/contract/events.ts';

/** The part of `project.list` that the tray needs. */
const projectsSchema = z.object({ projects: z.array(z.object({ pending_proposals: z.int().min(0) })) });

/** Whether an event can change how many proposals wait. */
export function changesWaiting(event: EngineEvent): boolean {
  return event.kind === 'proposal_changed' || event.kind === 'project_created';
}

/** How many proposals wait in all projects, from the answer to `project.list`; undefined when there is no such answer. */
export function countWaiting(answer: BridgeAnswer): number | undefined {
  const parsed = answer.ok ? projectsSchema.safeParse(answer.output) : undefined;
  return parsed?.success
    ? parsed.data.projects.reduce((sum, project) => sum + project.pending_proposals, 0)
    : undefined;
}
