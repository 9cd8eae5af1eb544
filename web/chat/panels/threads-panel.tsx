/** Threads with replies that the user has not read. */
import { MessagesSquare } from 'lucide-preact';
import { Empty } from '../../shared/components/states.js';
import { relativeTime } from '../../shared/components/time.js';
import type { Message } from '../contract.js';
import { nameOf } from '../state/chat-state.js';
import { texts } from '../texts/workspace.js';
import { placeName } from '../timeline/place-view.js';
import { useWorkspace } from '../workspace/context.js';
import { show } from '../workspace/view.js';
import { MessageCard } from './message-card.js';
import { PanelFrame } from './panel.js';

export function ThreadsPanel() {
  const workspace = useWorkspace();
  const { marks, store } = workspace;
  const threads = marks.threads.value;
  const open = ({ id, channelId }: Message) => show(channelId, { panel: { kind: 'thread', parentId: id }, at: id });
  return (
    <PanelFrame title={texts.threads}>
      <div class="panel-content">
        {threads.length === 0 && (
          <Empty icon={MessagesSquare} title={texts.noThreads}>
            <span>{texts.noThreadsHint}</span>
          </Empty>
        )}
        {threads.map((parent) => (
          <MessageCard
            key={parent.id}
            message={parent}
            place={`#${placeName(workspace, parent.channelId) ?? ''}`}
            note={
              parent.threadMeta &&
              texts.repliedBy(
                parent.threadMeta.replyCount,
                nameOf(store.users.value, parent.threadMeta.lastReplyBy),
                relativeTime(parent.threadMeta.lastReplyAt),
              )
            }
            onOpen={() => open(parent)}
          />
        ))}
      </div>
    </PanelFrame>
  );
}
