/** The trial page of meetings, put together: what is heard is shown, what is done is said. */
import { byId } from '../shared/dom.js';
import { createTalk } from './chat-panel.js';
import { createControls } from './controls.js';
import { createFiles } from './files.js';
import { createLobby, type Entering } from './lobby.js';
import { createMedia } from './media.js';
import type { ClientMessage } from './messages.js';
import { createHappenings } from './notices.js';
import { createOutbox } from './outbox.js';
import { createPeers, type Distance, type Peers } from './peers.js';
import { createPeople, createWaiting } from './people.js';
import { heldUntil, type Stay, storeStay, takeStay } from './saved-visit.js';
import { createSession, type Return, type State } from './session.js';
import { createStage } from './stage.js';
import { showRoom, showState, type View } from './view.js';

const socketUrl = new URL('ws', location.href);
socketUrl.protocol = socketUrl.protocol.replace('http', 'ws');
socketUrl.hash = '';

const media = createMedia();
const distances = new Map<string, Distance>();
/** Of those who have left, too. */
const names = new Map<string, string>();
let peers: Peers | undefined;
let entering: Entering | undefined;

const session = createSession(socketUrl, { changed, heard: (message) => happened(message) });
const me = () => session.state.room.me;
const nameOf = (id: string) => names.get(id) ?? 'somebody';
const aloud = (what: string) => {
  byId('aloud').textContent = what;
};

/** Says what somebody wants done now; it is not done later. */
function say(message: ClientMessage): boolean {
  const isSaid = session.say(message);
  if (!isSaid) chat.happened('That was not done: there is no connection.');
  return isSaid;
}

const stay = takeStay();
const lobby = createLobby(enter, stay?.name);
const stage = createStage(byId('stage'));
const outbox = createOutbox({ send: (message) => session.say({ type: 'chat', ...message }), aloud });
const chat = createTalk({ send: outbox.add, answer: (id, accepted) => files.answer(id, accepted) });
const files = createFiles({
  say: session.say,
  unsent: () => session.unsent,
  changed: (transfer) => chat.file(transfer, nameOf(transfer.participantId)),
});
const happened = createHappenings({
  chat,
  outbox,
  files,
  peers: () => peers,
  me,
  nameOf,
  aloud,
  react: stage.react,
});
const view: View = {
  showTiles: stage.show,
  showPeople: createPeople(byId('people-list'), { say, sendFile: files.offer }),
  showWaiting: createWaiting(byId('waiting-list'), say),
  streamOf: (id) => (id === me() ? media.stream : peers?.streamOf(id)),
  distanceTo: (id) => distances.get(id),
};
const showControls = createControls({
  say,
  change: session.change,
  react(reaction) {
    if (say({ type: 'reaction', reaction })) stage.react(me() ?? '', reaction);
  },
  async switchSource() {
    await usePicture(media.isCamera ? 'drawing' : 'camera');
    changed(session.state);
  },
  leave: session.leave,
});
byId('stop-waiting').onclick = session.leave;
byId('copy-link').onclick = () => copy(location.href, 'The link is copied.');
byId('copy-token').onclick = () => copy(entering?.creatorToken ?? '', 'The creator token is copied.');

/** Where nothing may be copied, it stands in the chat. */
const copy = (text: string, done: string) =>
  (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
    () => chat.happened(done),
    () => chat.happened(text),
  );

async function usePicture(source: Entering['picture']) {
  const found = await media.use(source, entering?.name ?? '');
  if (!found) chat.happened('There is no camera to be had here: the others see a generated picture.');
  peers?.send(media.tracks());
}

async function enter(wish: Entering, back?: Return) {
  entering = wish;
  lobby.tell('');
  chat.clear();
  outbox.enter(wish.roomId);
  const { picture, title, ...join } = wish;
  const [iceServers] = await Promise.all([iceServersOf(), usePicture(picture)]);
  peers?.close();
  const told = (id: string, distance: Distance) => {
    distances.set(id, distance);
    showRoom(session.state.room, view);
  };
  peers = createPeers({ iceServers, tracks: media.tracks, say: session.say, told });
  session.join(join, back);
}

/** Within a network people reach each other without any. */
const iceServersOf = (): Promise<readonly RTCIceServer[]> =>
  fetch('config')
    .then((response) => response.json())
    .then(({ iceServers }) => iceServers)
    .catch(() => []);

function changed(state: State) {
  const { status, room } = state;
  outbox.connected(status === 'inside');
  if (status === 'out') {
    peers?.close();
    distances.clear();
    media.stop();
  }
  if (!showState(state, entering?.title ?? '')) return;
  for (const [id, { name }] of room.people) names.set(id, name);
  byId('copy-token').hidden = !entering?.creatorToken;
  peers?.follow(room, status === 'away');
  media.follow(room.people.get(room.me ?? ''));
  showRoom(room, view);
  showControls(room, media.isCamera);
}

/** Where we were before the page was reloaded; the password is not stored, as the token is enough. */
function comeBack(was: Stay) {
  outbox.enter(was.roomId, was.unsent);
  const { roomId, name, title, picture, identity } = was;
  const until = heldUntil(was);
  if (identity && Date.now() < until) enter({ roomId, name, title, picture, isHost: false }, { ...identity, until });
}
if (stay) comeBack(stay);

addEventListener('pagehide', () => {
  const { identity } = session;
  const { unsent } = outbox;
  if (!entering || (!identity && unsent.length === 0)) return;
  const { roomId, name, title, picture } = entering;
  storeStay({ roomId, name, title, picture, identity, unsent, leftAt: Date.now() });
});
// A page that comes back from the browser's cache knows where it was.
addEventListener('pageshow', ({ persisted }) => persisted && takeStay());
