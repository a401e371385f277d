import { useEffect, useState } from 'react';

const tickMs = 20_000;

/** Milliseconds since 1970 at this drawing; draws again every 20 s, so that "3 minutes ago" stays true. */
export function useNow(): number {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((count) => count + 1), tickMs);
    return () => clearInterval(timer);
  }, []);
  return Date.now();
}
