import './settings.css';
import type { CommandOutput } from '../../../src-preload/contract/commands/table.ts';
import { Id } from '../../ui/id.tsx';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Confirmation } from './confirmation.tsx';
import { Keys } from './keys.tsx';
import { OwnProposals } from './own-proposals.tsx';
import { Recovery } from './recovery.tsx';
import { Sealing } from './sealing.tsx';

/** What the owner decides about this home, and where it is. */
export function SettingsScreen({ status }: { readonly status: CommandOutput<'engine.status'> }) {
  return (
    <div className="mg-screen">
      <ScreenHead title="Settings" note="What leaves this computer: nothing" />
      <div className="mg-pane">
        <div className="mg-page">
          <OwnProposals />
          <Confirmation />
          <Recovery />
          <Sealing />
          <Keys />
          <Home status={status} />
        </div>
      </div>
    </div>
  );
}

function Home({ status }: { readonly status: CommandOutput<'engine.status'> }) {
  return (
    <section className="mg-section" aria-label="This home">
      <h2>This home</h2>
      <dl className="mg-pairs">
        <dt>Folder</dt>
        <dd>
          <Id id={status.home} label={status.home} of="the folder" />
        </dd>
        <dt>Home id</dt>
        <dd>
          <Id id={status.home_id} label={status.home_id} of="the home id" />
        </dd>
        <dt>Agent door</dt>
        <dd>{status.mcp_url === null ? 'shut' : <Id id={status.mcp_url} label={status.mcp_url} of="the address" />}</dd>
        <dt>Version</dt>
        <dd>{status.version}</dd>
      </dl>
    </section>
  );
}
