/** A thread: its parent message, replies, and a composer. */
import { useEffect, useRef } from 'preact/hooks';
import type { ListControl } from '../../shared/components/anchored-list.js';
import { Composer } from '../composer/composer.js';
import type { Message } from '../contract.js';
import { findMessage } from '../state/timeline.js';
import { texts } from '../texts/workspace.js';
import { MessageRow } from '../timeline/message-row.js';
import { editLast, placeName } from '../timeline/place-view.js';
import { TimelineView } from '../timeline/timeline-view.js';
import { useWorkspace } from '../workspace/context.js';
import { show, view } from '../workspace/view.js';
import { PanelFrame } from './panel.js';

export function ThreadPanel({ placeId, parentId }: { placeId: string; parentId: string }) {
  const workspace = useWorkspace();
  const { store } = workspace;
  const control = useRef<ListControl>();
  /** The parent as last seen: the place may show another part of its history by now. */
  const known = useRef<Message>();
  const timeline = store.state.value.timelines.get(placeId);
  known.current = findMessage(timeline, parentId) ?? known.current;
  const parent = known.current;
  const isMissing = timeline !== undefined && !parent;
  const { replyAt } = view.value;
  // A link to a thread may lead into the past of the channel.
  useEffect(() => {
    if (isMissing) show(placeId, { panel: { kind: 'thread', parentId }, at: parentId, replyAt }, { replace: true });
  }, [isMissing]);
  const name = placeName(workspace, placeId) ?? '';
  return (
    <PanelFrame title={texts.thread} subtitle={texts.inChannel(name)}>
      <TimelineView
        key={parentId}
        timelineKey={parentId}
        label={texts.repliesLabel}
        at={replyAt}
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
