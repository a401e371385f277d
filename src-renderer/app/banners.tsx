import { LifeBuoy, RefreshCw } from 'lucide-react';
import type { ConnectionState } from '../bridge/connection.ts';
import { OwnerRequests } from './owner-requests.tsx';

interface BannersProps {
  readonly connection: ConnectionState;
  readonly recovery: boolean;
}

/** Full-width lines for what concerns every screen: recovery, an engine that does not answer, commands that wait for a word. */
export function Banners({ connection, recovery }: BannersProps) {
  return (
    <div className="mg-banners">
      {recovery && (
        <p className="mg-banner" data-tone="changed" role="status">
          <LifeBuoy size={15} aria-hidden />
          Recovery: everything can be read, nothing is written. It is lifted after a clean reconcile report.
        </p>
      )}
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
