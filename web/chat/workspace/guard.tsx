/** Keeps a failure of one view from ending the whole page. */
import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Failed } from '../../shared/components/states.js';

export function Guard({ children }: { children: ComponentChildren }) {
  const [error, retry] = useErrorBoundary((thrown: unknown) => reportError(thrown));
  return error === undefined ? children : <Failed error={messageOf(error)} retry={retry} />;
}
