import { useEffect, useState } from 'react';

const tickMs = 20_000;

/** Milliseconds since 1970, looked at again every 20 s, so that "3 minutes ago" stays true. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
