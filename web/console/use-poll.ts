/** Loads something again and again while its view is shown. */
import { useEffect } from 'preact/hooks';
import { type Load, useLoad } from '../shared/use-load.js';
import { get } from './session.js';

const POLL_MS = 4000;

/** A hidden tab does not load. */
export function usePoll<Answer>(load: (signal: AbortSignal) => Promise<Answer>, everyMs = POLL_MS): Load<Answer> {
  const loaded = useLoad(load);
  const { isLoading, reload } = loaded;
  useEffect(() => {
    if (isLoading) return;
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [isLoading]);
  return loaded;
}

export const usePolled = <Answer>(path: string, everyMs?: number): Load<Answer> =>
  usePoll((signal) => get<Answer>(path, signal), everyMs);
