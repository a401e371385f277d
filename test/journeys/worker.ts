import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import type { AgentClient, ToolAnswer } from '../support/mcp-clients.ts';

const main = 'refs/shared/main';

/** What a tool answered; fails the test when it refused. */
export function done(answer: ToolAnswer): Readonly<Record<string, unknown>> {
  expect(answer.isError, answer.text).toBe(false);
  return answer.structured;
}

/** One text of what a tool answered. */
export function field(answer: ToolAnswer, name: string): string {
  return z.string().parse(done(answer)[name]);
}

/** An agent at work: its client, its branch and where it stands. */
export class Worker {
  readonly client: AgentClient;
  readonly project: string;
  readonly ref: string;
  head = '';

  constructor(client: AgentClient, project: string, ref: string) {
    this.client = client;
    this.project = project;
    this.ref = ref;
  }

  async branch(from: string): Promise<void> {
    done(
      await this.client.call('memory_branch_create', {
        project: this.project,
        ref_name: this.ref,
        head_changeset_id: from,
      }),
    );
    this.head = from;
  }

  async commit(message: string, ops: readonly Record<string, unknown>[]): Promise<void> {
    const answer = await this.client.call('memory_changeset_create', {
      project: this.project,
      ref: this.ref,
      expected_head: this.head,
      parent_ids: [this.head],
      message,
      idempotency_key: randomUUID(),
      model: 'test-model-1',
      ops: ops.map((op, ordinal) => ({ ordinal, ...op })),
    });
    this.head = field(answer, 'changeset_id');
  }

  async propose(base: string, message: string): Promise<string> {
    const answer = await this.client.call('memory_merge_propose', {
      project: this.project,
      target_ref: main,
      head_changeset_id: this.head,
      base_changeset_id: base,
      message,
      idempotency_key: randomUUID(),
    });
    return field(answer, 'proposal_id');
  }
}
