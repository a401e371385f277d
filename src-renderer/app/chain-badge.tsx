import { Button, Checkbox, Popover } from '@mantine/core';
import { ShieldAlert, ShieldCheck, ShieldQuestion } from 'lucide-react';
import { useState } from 'react';
import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import { useEngineCommand } from '../bridge/queries.tsx';
import { useNow } from '../ui/now.ts';
import { RefusedNotice } from '../ui/states.tsx';
import { plainLine } from '../ui/visible-text.ts';
import { count, relativeTime } from '../ui/words.ts';
import { useDesk, type Verification } from './desk-store.ts';
import type { ProjectRow } from './rail.tsx';

const icons = { unknown: ShieldQuestion, verified: ShieldCheck, findings: ShieldAlert } as const;

/** Whether history and ledger were verified, when, and the way to do it now. */
export function ChainBadge({ project }: { readonly project: ProjectRow }) {
  const verified = useDesk((desk) => desk.verified[project.project_id]);
  const noteVerified = useDesk((desk) => desk.noteVerified);
  const chain = useEngineCommand('store.verify_chain');
  const ledger = useEngineCommand('audit.verify');
  const now = useNow();
  const [full, setFull] = useState(false);
  const state = verified === undefined ? 'unknown' : verified.ok ? 'verified' : 'findings';
  const Icon = icons[state];
  const verify = async (): Promise<void> => {
    const reports = await Promise.all([
      chain.mutateAsync({ project: project.project_id, full }),
      ledger.mutateAsync({}),
    ]).catch(() => undefined);
    if (reports === undefined) return;
    const ok = reports.every((report) => report.ok);
    noteVerified(project.project_id, { atMs: Date.now(), head: project.main_head, ok });
  };
  const busy = chain.isPending || ledger.isPending;
  const refusal = chain.error ?? ledger.error;
  return (
    <Popover position="bottom-start" width={340} shadow="md" trapFocus>
      <Popover.Target>
        <button type="button" className="mg-badge" data-state={state}>
          <Icon size={14} aria-hidden />
          {badgeWords(verified, project.main_head, now)}
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Verification">
        <div className="mg-form">
          <p className="mg-quiet">
            Recomputes every digest and chain of this project and of the audit ledger, and compares signatures and
            indexes with what earlier verifications sealed.
          </p>
          {chain.data !== undefined && <Report title="History" unit="changeset" report={chain.data} />}
          {ledger.data !== undefined && (
            <Report title="Audit ledger" unit="entry" plural="entries" report={ledger.data} />
          )}
          {refusal !== null && <RefusedNotice refusal={refusal} />}
          <Checkbox
            size="xs"
            label="Trust no seal: derive everything anew"
            checked={full}
            onChange={(event) => setFull(event.currentTarget.checked)}
          />
          <Button loading={busy} onClick={() => void verify()}>
            Verify now
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function badgeWords(verified: Verification | undefined, head: string, nowMs: number): string {
  if (verified === undefined) return 'Not verified yet';
  if (!verified.ok) return 'Verification found problems';
  const when = relativeTime(verified.atMs, Math.max(nowMs, verified.atMs));
  return verified.head === head ? `Verified ${when}` : `Verified ${when}, before main moved`;
}

interface ReportProps {
  readonly title: string;
  readonly unit: string;
  readonly plural?: string;
  readonly report: VerifyReport;
}

function Report({ title, unit, plural, report }: ReportProps) {
  return (
    <section className="mg-report" data-ok={report.ok}>
      <h3>
        {title}: {report.ok ? 'holds' : count(report.findings.length, 'finding')}
      </h3>
      <p className="mg-quiet">{count(report.checked, unit, plural)} checked</p>
      {report.findings.slice(0, 5).map((finding) => (
        <p key={`${finding.where} ${finding.problem}`}>
          <span className="mg-mono">{plainLine(finding.where)}</span>: {plainLine(finding.problem)}
        </p>
      ))}
      {report.notes.map((note) => (
        <p key={note} className="mg-quiet">
          {plainLine(note)}
        </p>
      ))}
    </section>
  );
}
