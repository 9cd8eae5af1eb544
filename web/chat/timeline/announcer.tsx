/** Reads new messages of the place in view to screen readers. */
import { useEffect, useState } from 'preact/hooks';
import { nameOf } from '../state/chat-state.js';
import { plainText } from '../state/format.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { view } from '../workspace/view.js';

export function Announcer() {
  const { store, user } = useWorkspace();
  const [text, setText] = useState('');
  useEffect(
    () =>
      store.onEvent((event) => {
        const isMessage = event.type === 'NEW_MESSAGE' || event.type === 'NEW_DM_MESSAGE';
        if (!isMessage && event.type !== 'NEW_THREAD_REPLY') return;
        const { author, channelId, content } = event.payload;
        if (author.id === user.id || view.peek().placeId !== channelId) return;
        setText(texts.announced(nameOf(store.users.peek(), author), plainText(content) || texts.sentFile));
      }),
    [],
  );
  return (
    <div class="unseen" aria-live="polite">
      {text}
    </div>
  );
}
