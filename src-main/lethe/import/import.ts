import { dirname } from 'node:path';
import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import { ConstraintBroken } from '../../sqlite/store-fault.ts';
import type { ReadVerb, Write } from '../lethe-verbs.ts';
import type { VerbContext } from '../verb-context.ts';
import { copyAside } from './copy-aside.ts';
import { type ForeignFile, openForeignFile } from './foreign-file.ts';
import { type ImportPlan, planImport } from './plan.ts';
import { importRefused } from './refusal.ts';
import { type ForeignSurvey, type OnProgress, surveyFile } from './survey.ts';
import { writeImport } from './write.ts';

/** Reference databases, brought in whole or beside what is here (`lethe.md` §2.11, §2.12). */
export interface ImportVerbs {
  /**
   * Verifies a file and says what an import of it would write, as the store stands now; nothing is written but a copy of the
   * file, which is gone again when this resolves. Throws IMPORT_REFUSED with the reason, DISK_FULL.
   */
  inspectImport(input: { readonly path: string; readonly onProgress?: OnProgress | undefined }): Promise<ImportPlan>;
  /**
   * Verifies the file again and writes what is new of it, in one transaction that nothing else interrupts: for a store that
   * nobody else uses meanwhile. `contentDigest` is what the owner confirmed. An empty plan writes nothing.
   * Throws IMPORT_REFUSED (also for a file that is another one by now), DISK_FULL.
   */
  importFile(input: {
    readonly path: string;
    readonly contentDigest: string;
    readonly principal: string;
    readonly onProgress?: OnProgress | undefined;
  }): Promise<ImportPlan>;
}

/**
 * The verbs over the store's reading and writing.
 * @param storePath the database file: copies are made beside it
 */
export function importVerbs(read: ReadVerb, write: Write, context: VerbContext, storePath: string): ImportVerbs {
  const home = dirname(storePath);
  return {
    inspectImport: ({ path, onProgress = () => {} }) =>
      withCopy(path, home, async (file) => {
        const survey = await surveyFile(file, onProgress);
        return read((db) => planImport(db, file, survey));
      }),
    importFile: ({ path, contentDigest, principal, onProgress = () => {} }) =>
      withCopy(path, home, async (file) => {
        const survey = await surveyFile(file, onProgress);
        requireConfirmed(survey, contentDigest);
        const plan = await write((db, emit) => {
          const planned = planImport(db, file, survey);
          if (!planned.isEmpty)
            refusingConstraints(() =>
              writeImport(db, emit, context, { file, survey, plan: planned, principal, onProgress }),
            );
          return planned;
        });
        logImport(context.log, plan);
        return plan;
      }),
  };
}

async function withCopy<Result>(
  path: string,
  home: string,
  work: (file: ForeignFile) => Promise<Result>,
): Promise<Result> {
  const copy = await copyAside(path, home);
  try {
    const file = openForeignFile(copy.path);
    try {
      return await work(file);
    } finally {
      file.close();
    }
  } finally {
    copy.remove();
  }
}

/** A row of the file that breaks a rule which rows that are here set, such as a number of a checkpoint that is taken. */
function refusingConstraints(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    if (!(thrown instanceof ConstraintBroken)) throw thrown;
    throw importRefused('something of it is in the way of what is here under another id');
  }
}

function requireConfirmed(survey: ForeignSurvey, contentDigest: string): void {
  if (survey.contentDigest === contentDigest) return;
  throw importRefused('its content is not the one that was confirmed: look at it again', {
    content_digest: survey.contentDigest,
  });
}

function logImport(log: Log, plan: ImportPlan): void {
  if (plan.isEmpty) return;
  const projects = plan.projects.map(({ foreign, mode }) => ({ project: foreign.projectId, mode }));
  log.info({ content_digest: plan.contentDigest, projects }, 'a reference database was imported');
}

/** The verbs of a store that writes nothing. */
export function refusedImportVerbs(): ImportVerbs {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new Fault('READ_ONLY', 'Memory is read-only here: it was opened for recovery. Nothing was written.'),
    );
  return { inspectImport: refuse, importFile: refuse };
}
