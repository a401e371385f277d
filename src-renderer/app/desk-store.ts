import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** What a verification of one project found, and at which head. */
export interface Verification {
  readonly atMs: number;
  readonly head: string;
  readonly ok: boolean;
}

/** State of the desk itself; what the engine knows is never kept here. */
interface DeskState {
  readonly project: string | null;
  readonly verified: Readonly<Record<string, Verification>>;
  readonly dialog: 'none' | 'new_project' | 'shortcuts';
  readonly chooseProject: (project: string) => void;
  readonly noteVerified: (project: string, verification: Verification) => void;
  readonly show: (dialog: DeskState['dialog']) => void;
}

/** The chosen project survives a restart; the rest begins anew. */
export const useDesk = create<DeskState>()(
  persist(
    (set) => ({
      project: null,
      verified: {},
      dialog: 'none',
      chooseProject: (project) => set({ project }),
      noteVerified: (project, verification) =>
        set((state) => ({ verified: { ...state.verified, [project]: verification } })),
      show: (dialog) => set({ dialog }),
    }),
    { name: 'memory-git.desk', partialize: (state) => ({ project: state.project }) },
  ),
);
