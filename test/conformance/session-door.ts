import { type Door, type Json, openDoor } from './door.ts';

/** What every session of these tests is of. */
export const sessionOwner = { agent_id: 'coder', project_id: 'demo' };

/** The protocol with the routes of sessions and of memory. */
export const openHybrid = (): Promise<Door> => openDoor({ mode: 'hybrid' });

/** Starts a session; answers it. */
export async function startSession(door: Pick<Door, 'post'>, more: Json = {}): Promise<Json> {
  return (await door.post('/sessions', { ...sessionOwner, ...more })).value;
}

/** What was refused, with the text of it. */
export async function refused(
  asked: Promise<{ readonly status: number; readonly value: Json }>,
): Promise<readonly [number, string]> {
  const { status, value } = await asked;
  return [status, value.error];
}
