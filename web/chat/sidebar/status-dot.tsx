/** Whether a user is there, as a dot whose shape differs as well as its colour. */
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';

export function StatusDot({ userId }: { userId: string }) {
  const { store } = useWorkspace();
  const status = store.presence.value.get(userId)?.status ?? 'offline';
  return (
    <span class={`status-dot ${status}`} role="img" aria-label={texts.status[status]} title={texts.status[status]} />
  );
}
