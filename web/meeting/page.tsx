/** Entry point: shows the lobby, the waiting room or the meeting, and returns to the meeting after a reload. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { Toasts } from '../shared/components/toasts.js';
import { byId } from '../shared/dom.js';
import { watchShortcuts } from './controls/shortcuts.js';
import { watchDrags } from './files/drop.js';
import { updateInvitation } from './lobby/invitation.js';
import { Lobby } from './lobby/lobby.js';
import { ownName } from './lobby/own-name.js';
import { Announcer } from './meeting/announcer.js';
import { session } from './meeting/connection.js';
import { enter, outbox } from './meeting/meeting.js';
import { MeetingView } from './meeting/meeting-view.js';
import { state, ticket, view } from './meeting/state.js';
import { openDevices } from './meeting/switches.js';
import { draft, unread } from './messages/timeline.js';
import { resumableUntil, type SavedVisit, storeVisit, takeVisit } from './saved-visit.js';
import { texts } from './texts.js';
import { WaitingView } from './waiting/waiting-view.js';

effect(() => {
  const name = view.value === 'lobby' ? '' : ticket.value?.title || state.value.roomId;
  document.title = `${unread.value > 0 ? `(${unread.value}) ` : ''}${name && `${name} · `}${texts.title}`;
});
effect(() => {
  if (view.value === 'lobby') updateInvitation();
});

/** Restores the visit before a reload. The password is not stored, because the resume token suffices. */
function resumeVisit({ roomId, name, title, creatorToken, identity, unsent, draft: typed, ...visit }: SavedVisit) {
  ownName.value = name;
  draft.value = typed;
  outbox.enter(roomId, unsent);
  const until = resumableUntil(visit);
  if (!identity || Date.now() >= until) return;
  const returning = { roomId, name, title, isHost: false, ...(creatorToken && { creatorToken }) };
  void enter(returning, { ...identity, until });
}

const savedVisit = takeVisit();
void openDevices(savedVisit?.identity?.flags);
if (savedVisit) resumeVisit(savedVisit);

addEventListener('pagehide', () => {
  const { identity } = session;
  const unsent = outbox.pending();
  const joined = ticket.value;
  if (!joined || (!identity && unsent.length === 0)) return;
  const { roomId, name, title, creatorToken } = joined;
  storeVisit({ roomId, name, title, creatorToken, identity, unsent, draft: draft.value, leftAt: Date.now() });
});
// A page restored from the back/forward cache still has its state.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) takeVisit();
});

watchDrags();
watchShortcuts();

const VIEWS = { lobby: Lobby, waiting: WaitingView, meeting: MeetingView };

function App() {
  const View = VIEWS[view.value];
  return (
    <>
      <View />
      <Toasts />
      <Announcer />
    </>
  );
}

render(<App />, byId('app'));
