import { Button, Modal, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { projectIdSchema } from '../../src-preload/contract/ids.ts';
import { useEngineCommand } from '../bridge/queries.tsx';
import { RefusedNotice } from '../ui/states.tsx';
import { useDesk } from './desk-store.ts';

/** Asks for a name and starts memory for that project. `onDone` is called once it exists. */
export function NewProjectForm({ onDone }: { readonly onDone?: (() => void) | undefined }) {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const chooseProject = useDesk((desk) => desk.chooseProject);
  const create = useEngineCommand('memory.repo_init');
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const project = projectIdSchema.safeParse(name.trim());
    setProblem(project.success ? null : 'A project name has 1 to 128 printable characters and no *.');
    if (!project.success) return;
    await create.mutateAsync({ project: project.data }).then(
      () => {
        chooseProject(project.data);
        notifications.show({ title: 'Project created', message: `${project.data} has its own shared memory now.` });
        onDone?.();
      },
      () => undefined,
    );
  };
  return (
    <form className="mg-form" onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Project name"
        description="Exact and case-sensitive. Agents name it in every call."
        placeholder="my-app"
        value={name}
        error={problem}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      {create.error !== null && <RefusedNotice refusal={create.error} />}
      <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
        Create project
      </Button>
    </form>
  );
}

/** The same form as a dialog. */
export function NewProjectDialog() {
  const dialog = useDesk((desk) => desk.dialog);
  const show = useDesk((desk) => desk.show);
  return (
    <Modal opened={dialog === 'new_project'} onClose={() => show('none')} title="New project">
      <NewProjectForm onDone={() => show('none')} />
    </Modal>
  );
}
