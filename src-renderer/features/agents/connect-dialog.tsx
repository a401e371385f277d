import { Button, Group, Modal, Radio, Select, TextInput } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { AgentProfile } from '../../../src-preload/contract/principal.ts';
import { useEngineCommand, useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { LifeSelect, lifeMs } from './life-select.tsx';
import { type lifeChoices, profileOrder, profileWords } from './profiles.ts';
import { TokenOnce } from './token-once.tsx';

interface ConnectDialogProps {
  readonly project: string | undefined;
  readonly mcpUrl: string | null;
  readonly onClose: () => void;
}

/** Name, profile and project of a new agent; then its token, once. */
export function ConnectDialog({ project, mcpUrl, onClose }: ConnectDialogProps) {
  const reconcile = useEngineCommand('principal.reconcile');
  const mint = useEngineCommand('obol.mint');
  const minted = mint.data;
  const connect = async (wish: AgentWish): Promise<void> => {
    const { principal } = await reconcile.mutateAsync({
      name: wish.name,
      profile: wish.profile,
      project: wish.project,
    });
    await mint.mutateAsync({ principal_id: principal.principal_id, expires_ms: lifeMs(wish.life) });
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={minted === undefined ? 'Connect an agent' : 'The agent may come in'}
      closeOnClickOutside={false}
    >
      {minted === undefined ? (
        <ConnectForm
          project={project}
          busy={reconcile.isPending || mint.isPending}
          onCancel={onClose}
          onConnect={(wish) => void connect(wish).catch(() => undefined)}
        >
          {(reconcile.error ?? mint.error) !== null && <Refusals refusals={[reconcile.error, mint.error]} />}
        </ConnectForm>
      ) : (
        <TokenOnce minted={minted} mcpUrl={mcpUrl} onDone={onClose} />
      )}
    </Modal>
  );
}

function Refusals({
  refusals,
}: {
  readonly refusals: readonly (Parameters<typeof RefusedNotice>[0]['refusal'] | null)[];
}) {
  return refusals.map((refusal) => refusal !== null && <RefusedNotice key={refusal.code} refusal={refusal} />);
}

interface AgentWish {
  readonly name: string;
  readonly profile: AgentProfile;
  readonly project: string;
  readonly life: (typeof lifeChoices)[number]['value'];
}

interface ConnectFormProps {
  readonly project: string | undefined;
  readonly busy: boolean;
  readonly onCancel: () => void;
  readonly onConnect: (wish: AgentWish) => void;
  readonly children: React.ReactNode;
}

function ConnectForm({ project, busy, onCancel, onConnect, children }: ConnectFormProps) {
  const projects = useEngineQuery('project.list', {});
  const [name, setName] = useState('');
  const [profile, setProfile] = useState<AgentProfile>('propose');
  const [chosen, setChosen] = useState<string | null>(project ?? null);
  const [life, setLife] = useState<AgentWish['life']>('7');
  const choices = [
    ...(projects.data?.projects ?? []).map((row) => ({
      value: String(row.project_id),
      label: plainLine(row.name, 80),
    })),
    ...(profile === 'readonly' ? [{ value: '*', label: 'Every project (reading only)' }] : []),
  ];
  const target = choices.find((choice) => choice.value === chosen)?.value;
  const ready = name.trim() !== '' && target !== undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (target !== undefined && ready) onConnect({ name: name.trim(), profile, project: target, life });
  };
  return (
    <form className="mg-form" onSubmit={submit}>
      <TextInput
        label="Name"
        description="How you will recognise it, such as claude-laptop. The same name again is the same agent."
        value={name}
        maxLength={128}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <ProfileChoice profile={profile} onChange={setProfile} />
      <Select
        label="Project"
        placeholder={choices.length === 0 ? 'Create a project first' : 'Choose a project'}
        data={choices}
        value={target ?? null}
        onChange={setChosen}
        allowDeselect={false}
      />
      <LifeSelect value={life} onChange={setLife} />
      {children}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={busy} disabled={!ready}>
          Create and mint token
        </Button>
      </Group>
    </form>
  );
}

interface ProfileChoiceProps {
  readonly profile: AgentProfile;
  readonly onChange: (profile: AgentProfile) => void;
}

function ProfileChoice({ profile, onChange }: ProfileChoiceProps) {
  return (
    <>
      <Radio.Group
        label="What it may do"
        value={profile}
        onChange={(value) => onChange(profileOrder.find((candidate) => candidate === value) ?? profile)}
      >
        <div className="mg-profiles">
          {profileOrder.map((value) => (
            <div key={value} className="mg-profile" data-checked={value === profile}>
              <Radio
                size="xs"
                value={value}
                label={profileWords[value].title}
                description={`${profileWords[value].does} ${profileWords[value].never}`}
              />
            </div>
          ))}
        </div>
      </Radio.Group>
      {profile === 'review' && (
        <p className="mg-notice" data-tone="changed">
          <TriangleAlert size={16} aria-hidden />
          Whoever holds this token can put memory into main without you. Give it only to a reviewer that you trust as
          yourself.
        </p>
      )}
    </>
  );
}
