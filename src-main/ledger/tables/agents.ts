import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

export interface AgentRow {
  /** The number that stands for the agent inside. */
  readonly agent: number;
  readonly agent_id: string;
}

/** The number of an agent; undefined before its first write. */
export function findAgent(db: ReadableDb, agentId: string): number | undefined {
  return db.query<[string], AgentRow>('SELECT agent, agent_id FROM ledger_agents WHERE agent_id = ?').get(agentId)
    ?.agent;
}

/** The same, made with totals of zero when there is none. */
export function ensureAgent(db: WritableDb, agentId: string): number {
  const known = findAgent(db, agentId);
  if (known !== undefined) return known;
  const { lastInsertRowid: agent } = db
    .command<[string]>('INSERT INTO ledger_agents (agent_id) VALUES (?)')
    .run(agentId);
  db.command<[number]>('INSERT INTO ledger_totals (agent, ops, versions, bytes) VALUES (?, 0, 0, 0)').run(agent);
  return agent;
}

/** Agents with ids above `after`, in id order. */
export function listAgentRows(db: ReadableDb, after: string, limit: number): readonly AgentRow[] {
  return db
    .query<[string, number], AgentRow>(
      'SELECT agent, agent_id FROM ledger_agents WHERE agent_id > +? ORDER BY agent_id LIMIT +?',
    )
    .all(after, limit);
}

/** The id of a number. */
export function findAgentId(db: ReadableDb, agent: number): string | undefined {
  return db.query<[number], AgentRow>('SELECT agent, agent_id FROM ledger_agents WHERE agent = ?').get(agent)?.agent_id;
}
