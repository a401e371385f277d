/** Every bound that a caller can run into, in one place. Bytes are bytes of UTF-8; times are milliseconds. */

export const payloadBytesMax = 65_536;
export const contentBytesMax = 16_384;
export const summaryBytesMax = 4_096;
export const stringValueBytesMax = 1_024;
export const memoryIdBytesMax = 1_024;
export const tagsMax = 64;
export const tagBytesMax = 128;
/** Ops of one changeset; an op's number is `seq * 65 536 + ordinal`. */
export const opsMax = 10_000;
export const parentsMax = 2;
export const attestationsMax = 256;
export const messageBytesMax = 16_384;
export const idempotencyKeyBytesMax = 256;
export const attributionBytesMax = 1_024;
export const queryBytesMax = 4_096;
/** As the protocol's other notes and reasons: a handful of verdicts still fits into one result. */
export const commentBytesMax = 4_096;

export const refNameBytesMax = 512;
export const contextLimitDefault = 20;
export const contextLimitMax = 100;
export const logLimitDefault = 20;
export const logLimitMax = 200;
export const listLimitDefault = 50;
export const listLimitMax = 500;
/** Ops that a cherry-pick takes at most: what is listed of it still fits into one result. */
export const selectedOpsMax = 400;
/** Conflicts that a proposal names outside its own page. */
export const conflictsListedMax = 20;
/** Changes that the first line of a review counts. */
export const changePreviewMax = 2_000;

export const requestBytesMax = 1_048_576;
export const jsonDepthMax = 64;
export const resultBytesMax = 48_000;

/** What one principal may have or send (`charon.md` §3); each can be set otherwise in settings.json. */
export const openProposalsMax = 200;
export const ownRefsMax = 10_000;
export const payloadBytesPerDayMax = 1_073_741_824;
/** Registrations that wait for the owner, of all agents together. */
export const pendingRegistrationsMax = 20;
/** With less free disk than this nothing is added to memory. */
export const freeDiskBytesMin = 536_870_912;

/** What the agent door serves at once and in a second. */
export const failedPerSecondMax = 20;
export const callsPerSecondMax = 2_000;
export const callsAtOnceMax = 4_000;
export const concurrentRequestsMax = 256;
export const streamsMax = 64;

export const dayMs = 86_400_000;
export const obolLifeDefaultMs = 7 * dayMs;
export const obolLifeMaxMs = 90 * dayMs;
export const proposalLifeMs = 7 * dayMs;
export const envelopeLifeMs = 120_000;
export const envelopeLifeMaxMs = 900_000;
export const clockSkewMs = 60_000;
