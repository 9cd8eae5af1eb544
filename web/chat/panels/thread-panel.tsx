/** A thread: its parent message, replies, and a composer. */
import { MessageSquareOff } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ListControl } from '../../shared/components/anchored-list.js';
import { Empty } from '../../shared/components/states.js';
import { Composer } from '../composer/composer.js';
import { findMessage } from '../state/timeline.js';
import { texts } from '../texts/workspace.js';
import { MessageRow } from '../timeline/message-row.js';
import { editLast, placeName } from '../timeline/place-view.js';
import { TimelineView } from '../timeline/timeline-view.js';
import { useWorkspace } from '../workspace/context.js';
import { view } from '../workspace/view.js';
import { PanelFrame } from './panel.js';

export function ThreadPanel({ placeId, parentId }: { placeId: string; parentId: string }) {
  const workspace = useWorkspace();
  const { store, timelines } = workspace;
  const { timelines: loaded } = store.state.value;
  const control = useRef<ListControl>();
  const parent = findMessage(loaded.get(placeId), parentId);
  const isGone = loaded.has(placeId) && !parent;
  // A link to a thread may lead into the past of the channel.
  useEffect(() => {
    if (isGone) void timelines.loadAround(placeId, parentId);
  }, [parentId, isGone]);
  const name = placeName(workspace, placeId) ?? '';
  if (isGone && timelines.failures.value.has(placeId))
    return (
      <PanelFrame title={texts.thread}>
        <Empty icon={MessageSquareOff} title={texts.messageGone} />
      </PanelFrame>
    );
  return (
    <PanelFrame title={texts.thread} subtitle={texts.inChannel(name)}>
      <TimelineView
        key={parentId}
        timelineKey={parentId}
        label={texts.repliesLabel}
        at={view.value.replyAt}
        intro={parent && <MessageRow message={parent} isFirst isParent />}
        onReady={(ready) => {
          control.current = ready;
        }}
      />
      <Composer
        placeId={placeId}
        threadId={parentId}
        placeholder={texts.writeReply}
        onEditLast={() => editLast(workspace, parentId)}
        onSent={() => control.current?.scrollToEnd()}
      />
    </PanelFrame>
  );
}
