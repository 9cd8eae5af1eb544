/** Loads what a view shows, with its loading and failed states. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from './api/http.js';
import { Failed, Loading } from './components/states.js';

export interface Load<Value> {
  /** Kept while it is loaded again. */
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => Promise<void>;
  /** Changes the value without loading. */
  readonly update: (change: (value: Value) => Value) => void;
}

/** Loads when the component is first rendered, when an input changes, and on `reload`; the last request wins. */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[] = [],
): Load<Value> {
  const [state, setState] = useState<Pick<Load<Value>, 'value' | 'error' | 'isLoading'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const current = useRef<AbortController>();

  async function run() {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const value = await load(controller.signal);
      if (!controller.signal.aborted) setState({ value, error: undefined, isLoading: false });
    } catch (error) {
      if (!controller.signal.aborted) setState((before) => ({ ...before, error, isLoading: false }));
    }
  }

  useEffect(() => {
    void run();
    return () => current.current?.abort();
  }, inputs);

  return {
    ...state,
    reload: run,
    update: (change) =>
      setState((before) => (before.value === undefined ? before : { ...before, value: change(before.value) })),
  };
}

interface LoadedProps<Value> {
  readonly of: Load<Value>;
  readonly loadingLabel?: string;
  readonly retryLabel?: string;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows the value, or that it is loading or failed. */
export function Loaded<Value>({
  of: { value, error, reload },
  loadingLabel,
  retryLabel,
  children,
}: LoadedProps<Value>) {
  if (value !== undefined) return <>{children(value)}</>;
  if (error !== undefined)
    return <Failed error={messageOf(error)} retry={reload} {...(retryLabel && { retryLabel })} />;
  return <Loading {...(loadingLabel && { label: loadingLabel })} />;
}
