import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { ArrowLeft, KeyRound, Power, X } from 'lucide-react';
import { useState } from 'react';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Id } from '../../ui/id.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import type { AgentRow } from './agents-screen.tsx';
import { MintDialog } from './mint-dialog.tsx';
import { profileWords } from './profiles.ts';
import { SignedIn } from './signed-in.tsx';
import { TokenTable } from './token-table.tsx';

interface AgentDetailProps {
  readonly agent: AgentRow;
  readonly project: string | undefined;
  readonly mcpUrl: string | null;
}

/** One agent: its rights, its branches, its tokens; and how to take each of them away. */
export function AgentDetail({ agent, project, mcpUrl }: AgentDetailProps) {
  const [dialog, setDialog] = useState<'none' | 'mint' | 'disable'>('none');
  const setEnabled = useEngineCommand('principal.set_enabled');
  const name = plainLine(agent.name, 120);
  const close = (): void => setDialog('none');
  const enable = (enabled: boolean): void =>
    setEnabled.mutate({ principal_id: agent.principal_id, enabled }, { onSuccess: close });
  return (
    <article className="mg-page" aria-label="Agent">
      <a className="mg-back" href="#/agents">
        <ArrowLeft size={14} aria-hidden /> All agents
      </a>
      <header className="mg-agent-head">
        <h2>{name}</h2>
        {!agent.enabled && (
          <span className="mg-chip" data-tone="removed">
            disabled
          </span>
        )}
        <div className="mg-head-actions">
          <Button
            leftSection={<KeyRound size={14} aria-hidden />}
            onClick={() => setDialog('mint')}
            disabled={!agent.enabled}
          >
            Mint a token
          </Button>
          {agent.enabled ? (
            <Button
              variant="default"
              leftSection={<Power size={14} aria-hidden />}
              onClick={() => setDialog('disable')}
            >
              Disable
            </Button>
          ) : (
            <Button
              variant="default"
              leftSection={<Power size={14} aria-hidden />}
              loading={setEnabled.isPending}
              onClick={() => enable(true)}
            >
              Enable
            </Button>
          )}
        </div>
      </header>
      {setEnabled.error !== null && dialog === 'none' && <RefusedNotice refusal={setEnabled.error} />}
      <Rights agent={agent} project={project} />
      <section className="mg-section" aria-label="Tokens">
        <h2>Tokens</h2>
        <TokenTable agentName={name} obols={agent.obols} />
      </section>
      <SignedIn principalId={agent.principal_id} />
      {dialog === 'mint' && <MintDialog agent={agent} mcpUrl={mcpUrl} onClose={close} />}
      <ConfirmDialog
        opened={dialog === 'disable'}
        title={`Disable ${name}`}
        confirm="Disable agent"
        busy={setEnabled.isPending}
        refusal={setEnabled.error}
        onClose={close}
        onConfirm={() => enable(false)}
      >
        Its next call is refused, whichever token it uses. Nothing of what it wrote is touched, and you can enable it
        again.
      </ConfirmDialog>
    </article>
  );
}

function Rights({ agent, project }: { readonly agent: AgentRow; readonly project: string | undefined }) {
  const revoke = useEngineCommand('principal.revoke_grant');
  const reconcile = useEngineCommand('principal.reconcile');
  const words = agent.profile === 'owner' ? undefined : profileWords[agent.profile];
  const lacks = project !== undefined && !agent.grants.some((grant) => grant === project);
  const refusal = revoke.error ?? reconcile.error;
  return (
    <>
      <dl className="mg-pairs">
        <dt>Profile</dt>
        <dd>
          <strong>{words?.title ?? agent.profile}</strong>
          {words !== undefined && `: ${words.does} ${words.never}`}
        </dd>
        <dt>Projects</dt>
        <dd className="mg-grants">
          {agent.grants.length === 0 && 'none'}
          {agent.grants.map((grant) => (
            <span key={grant} className="mg-chip">
              {grant === '*' ? 'every project, reading only' : plainLine(grant, 80)}
              <Tooltip label="Take this project away, from the next call on">
                <ActionIcon
                  variant="transparent"
                  color="gray"
                  size={16}
                  aria-label={`Take away ${grant === '*' ? 'every project' : plainLine(grant, 80)}`}
                  onClick={() => revoke.mutate({ principal_id: agent.principal_id, project: grant })}
                >
                  <X size={12} aria-hidden />
                </ActionIcon>
              </Tooltip>
            </span>
          ))}
          {lacks && agent.profile !== 'owner' && (
            <GiveProject
              give={reconcile.mutate}
              agent={{ name: agent.name, profile: agent.profile }}
              project={project}
              busy={reconcile.isPending}
            />
          )}
        </dd>
        <dt>Branches</dt>
        <dd className="mg-mono">
          {agent.owned_prefixes.length === 0
            ? 'none'
            : agent.owned_prefixes.map((prefix) => plainLine(prefix)).join('  ')}
        </dd>
        <dt>Principal</dt>
        <dd>
          <Id id={agent.principal_id} of="principal id" label={agent.principal_id} />, made{' '}
          <When at={agent.created_at} />
        </dd>
      </dl>
      {refusal !== null && <RefusedNotice refusal={refusal} />}
    </>
  );
}

interface GiveProjectProps {
  readonly give: (input: { name: string; profile: Exclude<AgentRow['profile'], 'owner'>; project: string }) => void;
  readonly agent: { readonly name: string; readonly profile: Exclude<AgentRow['profile'], 'owner'> };
  readonly project: string;
  readonly busy: boolean;
}

function GiveProject({ give, agent, project, busy }: GiveProjectProps) {
  return (
    <Button size="compact-xs" variant="subtle" loading={busy} onClick={() => give({ ...agent, project })}>
      Give {plainLine(project, 60)}
    </Button>
  );
}
