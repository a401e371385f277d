import { z } from 'zod';
import {
  callsAtOnceMax,
  callsPerSecondMax,
  concurrentRequestsMax,
  failedPerSecondMax,
  freeDiskBytesMin,
  openProposalsMax,
  ownRefsMax,
  payloadBytesPerDayMax,
  pendingRegistrationsMax,
  streamsMax,
} from '../../src-preload/contract/limits.ts';

const count = z.int().min(1).max(1_000_000);

/** How much agents may have, send and ask at once (`charon.md` §3). Whoever can write settings.json could do worse. */
export const limitsSchema = z.object({
  open_proposals: count.default(openProposalsMax),
  refs: count.default(ownRefsMax),
  payload_bytes_per_day: z.int().min(1).default(payloadBytesPerDayMax),
  pending_registrations: count.default(pendingRegistrationsMax),
  /** 0 never stops writes. */
  free_disk_bytes: z.int().min(0).default(freeDiskBytesMin),
  failed_per_second: count.default(failedPerSecondMax),
  calls_per_second: count.default(callsPerSecondMax),
  calls_at_once: count.default(callsAtOnceMax),
  concurrent_requests: count.default(concurrentRequestsMax),
  streams: count.default(streamsMax),
});
export type Limits = z.infer<typeof limitsSchema>;
