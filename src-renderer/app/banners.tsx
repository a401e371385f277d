import { LifeBuoy, RefreshCw } from 'lucide-react';
import type { ConnectionState } from '../bridge/connection.ts';
import { useEngineQuery } from '../bridge/queries.tsx';
import { OwnerRequests } from './owner-requests.tsx';

interface BannersProps {
  readonly connection: ConnectionState;
  readonly recovery: boolean;
}

/** Full-width lines for what concerns every screen: recovery, an engine that does not answer, commands that wait for a word. */
export function Banners({ connection, recovery }: BannersProps) {
  return (
    <div className="mg-banners">
      {recovery && <Recovery />}
      {connection === 'reconnecting' && (
        <p className="mg-banner" data-tone="noted" role="status">
          <RefreshCw size={15} aria-hidden />
          Reconnecting to the engine. What you see may be a moment old.
        </p>
      )}
      {connection === 'stopped' && (
        <p className="mg-banner" data-tone="removed" role="alert">
          <RefreshCw size={15} aria-hidden />
          The engine has stopped. Nothing acknowledged is lost; start it again with npm start. This page goes on trying.
        </p>
      )}
      <OwnerRequests />
    </div>
  );
}

/** A restored home says so: it waits for its owner, who finds the way on under Backups. */
function Recovery() {
  const isRestored = useEngineQuery('restore.status', {}).data?.restored != null;
  return (
    <p className="mg-banner" data-tone="changed" role="status">
      <LifeBuoy size={15} aria-hidden />
      {isRestored
        ? 'Restored, waiting for your check: everything can be read, nothing is written until you lift recovery under Backups.'
        : 'Recovery: everything can be read, nothing is written. It is lifted after a clean reconcile report.'}
    </p>
  );
}
