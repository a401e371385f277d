import { utf8Length } from '../../canonical/text.ts';

/** A checkpoint as a digest tells it. */
export interface DigestedCheckpoint {
  readonly seq: number;
  readonly currentTask: string;
  readonly openThreads: number;
}

/** An event as a digest tells it. */
export interface DigestedEvent {
  readonly eventType: string;
  readonly taskTitle: string;
  readonly content: string;
}

const lineBytesMax = 240;

/**
 * What a session was about, in a few lines (`lethe.md` §1.4): its newest checkpoints and events, oldest first, each on a line
 * that is cut between characters. Empty when there are none.
 * @param checkpoints and events: newest first
 */
export function digestSession(checkpoints: readonly DigestedCheckpoint[], events: readonly DigestedEvent[]): string {
  const points = checkpoints.toReversed().map(({ seq, currentTask, openThreads }) => {
    const task = currentTask === '' ? 'no current task' : currentTask;
    return `checkpoint ${seq}: ${task}${openThreads === 0 ? '' : `, ${openThreads} open threads`}`;
  });
  const said = events.toReversed().map(({ eventType, taskTitle, content }) => {
    return `${eventType}: ${taskTitle === '' ? '' : `${taskTitle}: `}${content}`;
  });
  return [...points, ...said].map(oneLine).join('\n');
}

function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  let cut = '';
  for (const character of flat) {
    if (utf8Length(cut) + utf8Length(character) > lineBytesMax) return `${cut}…`;
    cut += character;
  }
  return cut;
}
