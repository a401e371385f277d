import type { Caller } from '../../src-main/charon/api.ts';
import type { CommandCall } from '../../src-main/commands/api.ts';
import type { OwnerRequest } from '../../src-preload/contract/commands/owner-word.ts';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, type TempEngineOptions, tempEngine } from '../support/temp-engine.ts';

/** An engine with a project, an agent and its proposal; the owner at the desk is `engine.owner`. */
export interface PowerWorld {
  readonly engine: TempEngine;
  /** The owner through the socket, which every program of the same user reaches. */
  readonly shell: Caller;
  readonly files: Caller;
  readonly agent: Caller;
  readonly proposed: CommandOutput<'memory.merge_propose'>;
}

export async function powerWorld(options: TempEngineOptions = {}): Promise<PowerWorld> {
  const engine = await tempEngine({ ownerPage: true, ...options });
  await startProject(engine, 'demo');
  const agent = await engine.agent('agent', 'propose', 'demo');
  const proposed = await proposal(engine, agent, 'demo', 'work', 'tea at four');
  return { engine, agent, proposed, shell: shellOf(engine), files: engine.charon.ownerCaller('files') };
}

export function shellOf(engine: TempEngine): Caller {
  return engine.charon.ownerCaller('owner_socket');
}

let calls = 0;

/** A call that may have to wait. `waits` resolves once it does; it rejects when the call was answered without. */
export function ask(engine: TempEngine, caller: Caller, name: string, input: unknown, more: Partial<CommandCall> = {}) {
  calls += 1;
  let begun: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const call = { name, input, caller, client: 'command line', correlationId: `asked-${calls}` };
  const answer = engine.commands.run({ ...call, onWaiting: () => begun(), ...more });
  answer.catch(() => undefined);
  const waits = Promise.race([waiting, answer.then(() => Promise.reject(new Error(`${name} did not wait`)))]);
  waits.catch(() => undefined);
  return { answer, waits };
}

/** The one request that waits. */
export async function theRequest(engine: TempEngine): Promise<OwnerRequest> {
  const { requests } = await engine.run(engine.owner, 'owner_request.list', {});
  const [request] = requests;
  if (request === undefined || requests.length !== 1) throw new Error(`${requests.length} requests wait`);
  return request;
}

/** What each act of power is called with in that world. */
export function powerInputs({ agent, proposed }: PowerWorld): Readonly<Record<string, unknown>> {
  const { principal_id: principalId } = agent.principal;
  const state = { proposal_digest: proposed.proposal_digest, target_head: proposed.target_head };
  const unknownId = '00000000-0000-4000-8000-000000000000';
  return {
    'memory.merge_review': { proposal_id: proposed.proposal_id, verdict: 'approve', comment: "it's fine", ...state },
    'memory.merge': { proposal_id: proposed.proposal_id, idempotency_key: newKey() },
    'principal.reconcile': { name: 'another agent', profile: 'review', project: 'demo', actor_id: 'another' },
    'principal.set_enabled': { principal_id: principalId, enabled: false },
    'principal.revoke_grant': { principal_id: principalId, project: 'demo' },
    'obol.mint': { principal_id: principalId, expires_ms: 86_400_000 },
    'obol.revoke': { obol_id: agent.credential.id },
    'obol.reapprove': { obol_id: agent.credential.id },
    'oauth.set_enabled': { enabled: true },
    'oauth.approve': { request_id: '0000000000000000', principal_id: principalId },
    'oauth.revoke': { grant_id: '0000000000000000' },
    'custody.open': { agent: principalId },
    'custody.close': { agent: principalId },
    'registration.approve': { registration_id: unknownId },
    'registration.set_open': { open: true },
    'ltx.mint': { agent: principalId, kind: 'read' },
    'ltx.revoke': { key_id: '0000000000000000' },
    'ltx.reapprove': { key_id: '0000000000000000' },
    'passport.revoke': { agent: principalId },
    'key.rotate': { key: 'obol', drop_earlier: true },
    'key.set_recovery': { passphrase: 'correct horse battery' },
    'setting.set_owner_self_merge': { on: false },
    'backup.prune': { keep: 3 },
    'restore.stage': { directory: '/nowhere', confirm: '12345678' },
    'restore.lift': {},
    'restore.put_back': { confirm: '12345678' },
    'owner.set_confirmation': { owner_confirm: 'off' },
    'owner_page.open': {},
  };
}
