/** Demo page of meetings: connects session, media, peers and views. */
import { byId } from '../shared/dom.js';
import { createChatPanel } from './chat-panel.js';
import { createControls } from './controls.js';
import { createFiles } from './files.js';
import { createLobby, type JoinForm } from './lobby.js';
import { createMedia } from './media.js';
import type { ClientMessage } from './messages.js';
import { createNotices } from './notices.js';
import { createOutbox } from './outbox.js';
import { createPeers, type Distance, type Peers } from './peers.js';
import { createPeople, createWaiting } from './people.js';
import { resumableUntil, type SavedVisit, storeVisit, takeVisit } from './saved-visit.js';
import { createSession, type Return, type State } from './session.js';
import { createStage } from './stage.js';
import { showRoom, showState, type View } from './view.js';

const socketUrl = new URL('ws', location.href);
socketUrl.protocol = socketUrl.protocol.replace('http', 'ws');
socketUrl.hash = '';

const media = createMedia();
const distances = new Map<string, Distance>();
/** Includes people who have left. */
const names = new Map<string, string>();
let peers: Peers | undefined;
let joinForm: JoinForm | undefined;

const session = createSession(socketUrl, { onStateChange, onMessage: (message) => onNotice(message) });
const me = () => session.state.room.me;
const nameOf = (id: string) => names.get(id) ?? 'somebody';
const announce = (what: string) => {
  byId('aloud').textContent = what;
};

/** Sends a message without queueing; shows a notice if there is no connection. */
function send(message: ClientMessage): boolean {
  const isSent = session.send(message);
  if (!isSent) chat.addNotice('Not done: you are offline.');
  return isSent;
}

const savedVisit = takeVisit();
const lobby = createLobby(enter, savedVisit?.name);
const stage = createStage(byId('stage'));
const outbox = createOutbox({ send: (message) => session.send({ type: 'chat', ...message }), announce });
const chat = createChatPanel({ send: outbox.add, answer: (id, accepted) => files.answer(id, accepted) });
const files = createFiles({
  send: session.send,
  bufferedBytes: () => session.bufferedBytes,
  onChange: (transfer) => chat.file(transfer, nameOf(transfer.participantId)),
});
const onNotice = createNotices({
  chat,
  outbox,
  files,
  peers: () => peers,
  me,
  nameOf,
  announce,
  react: stage.react,
});
const view: View = {
  showTiles: stage.show,
  showPeople: createPeople(byId('people-list'), { send, sendFile: files.offer }),
  showWaiting: createWaiting(byId('waiting-list'), send),
  streamOf: (id) => (id === me() ? media.stream : peers?.streamOf(id)),
  distanceTo: (id) => distances.get(id),
};
const showControls = createControls({
  send,
  change: session.change,
  react(reaction) {
    if (send({ type: 'reaction', reaction })) stage.react(me() ?? '', reaction);
  },
  async switchSource() {
    await usePicture(media.isCamera ? 'drawing' : 'camera');
    onStateChange(session.state);
  },
  leave: session.leave,
});
byId('stop-waiting').onclick = session.leave;
byId('copy-link').onclick = () => copy(location.href, 'The link is copied.');
byId('copy-token').onclick = () => copy(joinForm?.creatorToken ?? '', 'The creator token is copied.');

/** Falls back to showing the text in the chat. */
const copy = (text: string, notice: string) =>
  (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
    () => chat.addNotice(notice),
    () => chat.addNotice(text),
  );

async function usePicture(source: JoinForm['picture']) {
  const found = await media.use(source, joinForm?.name ?? '');
  if (!found) chat.addNotice('No camera is available: the others see a generated picture.');
  peers?.replaceTracks(media.tracks());
}

async function enter(form: JoinForm, visit?: Return) {
  joinForm = form;
  lobby.showTrouble('');
  chat.clear();
  outbox.enter(form.roomId);
  const { picture, title, ...join } = form;
  const [iceServers] = await Promise.all([iceServersOf(), usePicture(picture)]);
  peers?.close();
  const onDistance = (id: string, distance: Distance) => {
    distances.set(id, distance);
    showRoom(session.state.room, view);
  };
  peers = createPeers({ iceServers, tracks: media.tracks, send: session.send, onDistance });
  session.join(join, visit);
}

/** Without ICE servers, peers connect only within one network. */
const iceServersOf = (): Promise<readonly RTCIceServer[]> =>
  fetch('config')
    .then((response) => response.json())
    .then(({ iceServers }) => iceServers)
    .catch(() => []);

function onStateChange(state: State) {
  const { status, room } = state;
  outbox.setConnected(status === 'inside');
  if (status === 'out') {
    peers?.close();
    distances.clear();
    media.stop();
  }
  if (!showState(state, joinForm?.title ?? '')) return;
  for (const [id, { name }] of room.people) names.set(id, name);
  byId('copy-token').hidden = !joinForm?.creatorToken;
  peers?.update(room, status === 'away');
  media.updateFlags(room.people.get(room.me ?? ''));
  showRoom(room, view);
  showControls(room, media.isCamera);
}

/** Restores the visit before a reload. The password is not stored, because the resume token suffices. */
function resumeVisit(visit: SavedVisit) {
  outbox.enter(visit.roomId, visit.unsent);
  const { roomId, name, title, picture, identity } = visit;
  const until = resumableUntil(visit);
  if (identity && Date.now() < until) enter({ roomId, name, title, picture, isHost: false }, { ...identity, until });
}
if (savedVisit) resumeVisit(savedVisit);

addEventListener('pagehide', () => {
  const { identity } = session;
  const { pending } = outbox;
  if (!joinForm || (!identity && pending.length === 0)) return;
  const { roomId, name, title, picture } = joinForm;
  storeVisit({ roomId, name, title, picture, identity, unsent: pending, leftAt: Date.now() });
});
// A page restored from the back/forward cache still has its state.
addEventListener('pageshow', ({ persisted }) => persisted && takeVisit());
