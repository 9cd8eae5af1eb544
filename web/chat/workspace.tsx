/** The workspace of the signed-in user: sidebar, place, panel, dialogs. */
import { MessagesSquare } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../shared/api/http.js';
import { Button } from '../shared/components/button.js';
import { Banner, Empty, Failed, Loading } from '../shared/components/states.js';
import { stored } from '../shared/storage.js';
import { Overlays } from './dialogs/overlays.js';
import { PeoplePanel } from './panels/people-panel.js';
import { PinsPanel } from './panels/pins-panel.js';
import { SearchPanel } from './panels/search-panel.js';
import { ThreadPanel } from './panels/thread-panel.js';
import { ThreadsPanel } from './panels/threads-panel.js';
import { type User, userKey } from './session.js';
import { settingsPath } from './settings-route.js';
import { Sidebar } from './sidebar/sidebar.js';
import { sortedChannels } from './state/chat-state.js';
import { texts } from './texts/workspace.js';
import { Announcer } from './timeline/announcer.js';
import { PlaceView } from './timeline/place-view.js';
import { createWorkspace, useWorkspace, WorkspaceContext } from './workspace/context.js';
import { Guard } from './workspace/guard.js';
import { useShortcuts } from './workspace/shortcuts.js';
import { type Panel, show, view } from './workspace/view.js';

export function Workspace({ user }: { user: User }) {
  const [workspace] = useState(() => createWorkspace(user));
  useEffect(() => workspace.start(), []);
  return (
    <WorkspaceContext.Provider value={{ ...workspace, user }}>
      <Frame />
    </WorkspaceContext.Provider>
  );
}

/** Time without a connection before it is said. */
const PATIENCE_MS = 2000;

function Frame() {
  const workspace = useWorkspace();
  const { store, timelines, user } = workspace;
  const { placeId, panel } = view.value;
  const isLoaded = store.isLoaded.value;
  const isInSettings = settingsPath.value !== undefined;
  const lastPlace = stored<string | undefined>(userKey(user.id, 'place'), undefined);
  useShortcuts(workspace);

  useEffect(() => {
    if (isLoaded) void timelines.loadAhead();
  }, [isLoaded]);
  useEffect(() => {
    if (placeId !== undefined) lastPlace.set(placeId);
    if (placeId !== undefined || !isLoaded || isInSettings) return;
    const state = store.state.peek();
    const last = lastPlace.get() ?? '';
    const known = state.channels.has(last) || state.conversations.has(last);
    const first = known ? last : sortedChannels(state.channels)[0]?.id;
    if (first !== undefined) show(first, {}, { replace: true });
  }, [placeId, isLoaded, isInSettings]);

  if (!isLoaded)
    return store.failure.value ? (
      <Failed error={messageOf(store.failure.value)} retry={() => void store.load()} />
    ) : (
      <Loading />
    );
  return (
    <div class={`workspace${panel ? ' with-panel' : ''}`}>
      <Sidebar />
      <div class="workspace-main">
        <ConnectionBanner />
        <Guard key={placeId}>{placeId === undefined ? <NoPlace /> : <PlaceView placeId={placeId} />}</Guard>
      </div>
      {placeId !== undefined && panel && (
        <Guard key={panel.kind}>
          <PanelView placeId={placeId} panel={panel} />
        </Guard>
      )}
      <Overlays />
      <Announcer />
    </div>
  );
}

function NoPlace() {
  const { overlay } = useWorkspace();
  return (
    <Empty icon={MessagesSquare} title={texts.noPlace}>
      <Button
        variant="main"
        onClick={() => {
          overlay.value = { kind: 'new-channel' };
        }}
      >
        {texts.newChannel}
      </Button>
    </Empty>
  );
}

function PanelView({ placeId, panel }: { placeId: string; panel: Panel }) {
  switch (panel.kind) {
    case 'thread':
      return <ThreadPanel key={panel.parentId} placeId={placeId} parentId={panel.parentId} />;
    case 'pins':
      return <PinsPanel placeId={placeId} />;
    case 'threads':
      return <ThreadsPanel />;
    case 'people':
      return <PeoplePanel placeId={placeId} />;
    default:
      return <SearchPanel placeId={placeId} text={panel.text} />;
  }
}

function ConnectionBanner() {
  const { store, sending } = useWorkspace();
  const isLost = store.connection.value === 'lost';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) return setShown(false);
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  return isShown ? <Banner>{texts.connectionLost(sending.outbox.value.length)}</Banner> : null;
}
