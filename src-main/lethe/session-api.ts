import type { JsonObject } from '../../src-preload/contract/json.ts';
import type { Snapshot } from './rules/session-input.ts';
import type { AssemblyRow, FeedbackRow } from './tables/assemblies.ts';
import type { CheckpointRow } from './tables/checkpoints.ts';
import type { EventRow, EventSieve, OffsetPage, ReviewedEventRow } from './tables/events.ts';
import type { SessionCounts, SessionLinkRow, SessionRow } from './tables/sessions.ts';
import type { ThreadOwner, ThreadRow, ThreadStatus } from './tables/threads.ts';

/** A session to start. Empty texts count as left out. */
export interface SessionInput {
  readonly agentId: string;
  readonly projectId: string;
  readonly sessionKey: string;
  readonly agentName: string;
  readonly projectName: string;
  readonly tokenBudget: number | null;
}

/** An event to record. Empty texts count as left out. */
export interface EventInput {
  /** The session it belongs to, by key or id; empty for an event of the project alone. */
  readonly session: string;
  /** The project, of an event that has no session. */
  readonly projectId: string;
  readonly eventType: string;
  readonly content: string;
  readonly confidence: number | null;
  readonly tags: readonly string[];
  readonly parentEventId: string;
  readonly taskTitle: string;
  readonly taskStatus: string;
  readonly threadId: string;
}

/** An assembly to record. Empty texts count as left out. */
export interface AssemblyInput {
  readonly session: string;
  readonly query: string;
  readonly tokenBudget: number | null;
  readonly estimatedTokens: number | null;
  readonly acceptedEstimatedTokens: number | null;
  readonly memoryManifestId: string;
  readonly memoryHeadChangesetId: string;
  readonly items: readonly JsonObject[];
}

/** An assembly with all that hangs on it. */
export interface Assembly {
  readonly row: AssemblyRow;
  readonly items: readonly JsonObject[];
  readonly feedback: readonly FeedbackRow[];
}

/** How long assemblies are kept; undefined keeps them. */
export interface AssemblyRetention {
  readonly daysMax: number | undefined;
  readonly perSessionMax: number | undefined;
}

/** A session, and where it stands. */
export interface SessionSummary {
  readonly session: SessionRow;
  readonly links: readonly SessionLinkRow[];
  readonly latestCheckpoint: CheckpointRow | undefined;
  readonly recentEvents: readonly ReviewedEventRow[];
  readonly checkpointCount: number;
  readonly eventCount: number;
}

/** What became of a session; the last one does not let itself be taken on. */
export type SessionOutcome =
  | { readonly kind: 'changed'; readonly session: SessionRow; readonly checkpoint?: CheckpointRow | undefined }
  | { readonly kind: 'completed'; readonly session: SessionRow };

/** The session verbs of the store (`lethe.md` §1.4). A session is named by its key or its id: SESSION_NOT_FOUND when there is none. */
export interface SessionVerbs {
  /**
   * Starts a session, or goes on with the one that bears its key: of the same agent and project it is active again. `taken`:
   * the key belongs to another agent or project, or to a completed session. Throws INPUT_INVALID.
   */
  startSession(input: SessionInput): Promise<{ readonly kind: 'started' | 'taken'; readonly session: SessionRow }>;
  /** The newest start first. */
  listSessions(limit: number): readonly SessionRow[];
  getSession(keyOrId: string): SessionRow;
  /** The id under which a memory manifest or an assembly names a session. Throws INPUT_INVALID when it is of another project. */
  resolveSession(projectId: string, keyOrId: string): string;
  summarizeSession(keyOrId: string): SessionSummary;
  /** Counts tokens on top of what the session had used. */
  beatSession(keyOrId: string, tokens: number | null): Promise<SessionOutcome>;
  interruptSession(keyOrId: string, snapshot: Snapshot | undefined): Promise<SessionOutcome>;
  resumeSession(keyOrId: string): Promise<SessionOutcome>;
  completeSession(keyOrId: string, summary: string): Promise<SessionOutcome>;
  /** Writes a summary out of the newest 5 checkpoints and 10 events. */
  compactSession(keyOrId: string): Promise<SessionSummary>;
  /** Interrupts every active session, for who stops; how many. */
  interruptSessions(): Promise<number>;

  /** The event, and the thread that was opened for a flag without one; undefined for blank content, which records nothing. */
  recordEvent(
    input: EventInput,
  ): Promise<{ readonly event: EventRow; readonly thread: ThreadRow | undefined } | undefined>;
  /** Newest first. */
  listEvents(keyOrId: string, page: OffsetPage): readonly ReviewedEventRow[];
  /** `complete` is false where older events were not looked at. Throws INPUT_INVALID for texts over their bounds. */
  searchEvents(
    sieve: EventSieve,
    limit: number,
  ): { readonly events: readonly ReviewedEventRow[]; readonly complete: boolean };
  listFlags(
    asked: { readonly projectId: string; readonly state: '' | 'reviewed' | 'open' },
    page: OffsetPage,
  ): readonly ReviewedEventRow[];
  /** The flag as reviewed; undefined when there is no such flag. Throws INPUT_INVALID. */
  reviewFlag(eventId: string, reviewerId: string): Promise<ReviewedEventRow | undefined>;

  addCheckpoint(keyOrId: string, snapshot: Snapshot): Promise<CheckpointRow>;
  /** Newest first. */
  listCheckpoints(keyOrId: string, limit: number): readonly CheckpointRow[];

  /** Newest first; an owner of kind `session` is named by key or id. */
  listThreads(owner: ThreadOwner, status: ThreadStatus | '', limit: number): readonly ThreadRow[];
  findThread(threadId: string): ThreadRow | undefined;
  /** Throws INPUT_INVALID, SESSION_NOT_FOUND. */
  openThread(input: {
    readonly session: string;
    readonly projectId: string;
    readonly title: string;
  }): Promise<ThreadRow>;
  /** Empty texts leave what is. Undefined when there is no such thread. Throws INPUT_INVALID. */
  changeThread(
    threadId: string,
    change: { readonly status: string; readonly title: string },
  ): Promise<ThreadRow | undefined>;
  listThreadEvents(threadId: string, page: OffsetPage): readonly ReviewedEventRow[];

  /** Throws INPUT_INVALID, SESSION_NOT_FOUND, MANIFEST_NOT_FOUND. */
  recordAssembly(input: AssemblyInput, retention: AssemblyRetention): Promise<Assembly>;
  /** Newest first, without what hangs on them. */
  listAssemblies(keyOrId: string, limit: number): readonly AssemblyRow[];
  findAssembly(assemblyId: string): Assembly | undefined;
  /** Undefined when there is no such assembly. Throws INPUT_INVALID. */
  judgeAssembly(
    assemblyId: string,
    input: { readonly verdict: string; readonly note: string },
  ): Promise<FeedbackRow | undefined>;
  /** One bounded step of letting assemblies go that are older than they are kept; true when more wait. */
  pruneAssemblies(retention: AssemblyRetention): Promise<boolean>;

  countSessionRows(): SessionCounts;
}
