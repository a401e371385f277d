import type { ReadVerb, Write } from './lethe-verbs.ts';
import type { SessionVerbs } from './session-api.ts';
import { judgeAssembly, pruneAssemblies, readAssembly, recordAssembly } from './session-assemblies.ts';
import { findEvents, recordEvent, reviewFlag } from './session-events.ts';
import { changeThread, listThreadsOf, openThread } from './session-threads.ts';
import {
  addCheckpoint,
  beatSession,
  compactSession,
  completeSession,
  getSession,
  interruptActive,
  interruptSession,
  resolveSession,
  resumeSession,
  startSession,
  summarizeSession,
} from './sessions.ts';
import { findAssembly, listAssemblies } from './tables/assemblies.ts';
import { listCheckpoints } from './tables/checkpoints.ts';
import { listEventsOfSession, listEventsOfThread, listFlags } from './tables/events.ts';
import { countSessionRows, listSessions } from './tables/sessions.ts';
import { findThread } from './tables/threads.ts';
import type { VerbContext } from './verb-context.ts';

/** Sessions and what hangs on them (`lethe.md` §1.4). */
export function sessionVerbs(read: ReadVerb, write: Write, context: VerbContext): SessionVerbs {
  return {
    ...runVerbs(read, write, context),
    ...eventVerbs(read, write, context),
    ...assemblyVerbs(read, write, context),
  };
}

type RunVerbs = Pick<
  SessionVerbs,
  | 'startSession'
  | 'listSessions'
  | 'getSession'
  | 'resolveSession'
  | 'summarizeSession'
  | 'beatSession'
  | 'interruptSession'
  | 'resumeSession'
  | 'completeSession'
  | 'compactSession'
  | 'interruptSessions'
  | 'countSessionRows'
>;

function runVerbs(read: ReadVerb, write: Write, context: VerbContext): RunVerbs {
  return {
    startSession: (input) => write((db) => startSession(db, context, input)),
    listSessions: (limit) => read((db) => listSessions(db, limit)),
    getSession: (keyOrId) => read((db) => getSession(db, keyOrId)),
    resolveSession: (projectId, keyOrId) => read((db) => resolveSession(db, projectId, keyOrId)),
    summarizeSession: (keyOrId) => read((db) => summarizeSession(db, keyOrId)),
    beatSession: (keyOrId, tokens) => write((db) => beatSession(db, context, keyOrId, tokens)),
    interruptSession: (keyOrId, snapshot) => write((db) => interruptSession(db, context, keyOrId, snapshot)),
    resumeSession: (keyOrId) => write((db) => resumeSession(db, context, keyOrId)),
    completeSession: (keyOrId, summary) => write((db) => completeSession(db, context, keyOrId, summary)),
    compactSession: (keyOrId) => write((db) => compactSession(db, keyOrId)),
    interruptSessions: async () => {
      let total = 0;
      for (let count = -1; count !== 0; total += count) count = await write((db) => interruptActive(db, context));
      return total;
    },
    countSessionRows: () => read(countSessionRows),
  };
}

type EventVerbs = Pick<
  SessionVerbs,
  | 'recordEvent'
  | 'listEvents'
  | 'searchEvents'
  | 'listFlags'
  | 'reviewFlag'
  | 'addCheckpoint'
  | 'listCheckpoints'
  | 'listThreads'
  | 'findThread'
  | 'openThread'
  | 'changeThread'
  | 'listThreadEvents'
>;

function eventVerbs(read: ReadVerb, write: Write, context: VerbContext): EventVerbs {
  return {
    recordEvent: (input) => write((db) => recordEvent(db, context, input)),
    listEvents: (keyOrId, page) => read((db) => listEventsOfSession(db, getSession(db, keyOrId).session_id, page)),
    searchEvents: (sieve, limit) => read((db) => findEvents(db, sieve, limit)),
    listFlags: (asked, page) => read((db) => listFlags(db, asked, page)),
    reviewFlag: (eventId, reviewerId) => write((db) => reviewFlag(db, context, eventId, reviewerId)),
    addCheckpoint: (keyOrId, snapshot) => write((db) => addCheckpoint(db, context, keyOrId, snapshot)),
    listCheckpoints: (keyOrId, limit) => read((db) => listCheckpoints(db, getSession(db, keyOrId).session_id, limit)),
    listThreads: (owner, status, limit) => read((db) => listThreadsOf(db, owner, status, limit)),
    findThread: (threadId) => read((db) => findThread(db, threadId)),
    openThread: (input) => write((db) => openThread(db, context, input)),
    changeThread: (threadId, change) => write((db) => changeThread(db, context, threadId, change)),
    listThreadEvents: (threadId, page) => read((db) => listEventsOfThread(db, threadId, page)),
  };
}

type AssemblyVerbs = Pick<
  SessionVerbs,
  'recordAssembly' | 'listAssemblies' | 'findAssembly' | 'judgeAssembly' | 'pruneAssemblies'
>;

function assemblyVerbs(read: ReadVerb, write: Write, context: VerbContext): AssemblyVerbs {
  return {
    recordAssembly: (input, retention) => write((db) => recordAssembly(db, context, input, retention)),
    listAssemblies: (keyOrId, limit) => read((db) => listAssemblies(db, getSession(db, keyOrId).session_id, limit)),
    findAssembly: (assemblyId) =>
      read((db) => {
        const row = findAssembly(db, assemblyId);
        return row === undefined ? undefined : readAssembly(db, row);
      }),
    judgeAssembly: (assemblyId, input) => write((db) => judgeAssembly(db, context, assemblyId, input)),
    pruneAssemblies: (retention) => write((db) => pruneAssemblies(db, context, retention)),
  };
}
