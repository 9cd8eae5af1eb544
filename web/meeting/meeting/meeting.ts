/** The meeting of this page: connects the session with peers, outbox and files. */
import { effect, untracked } from '@preact/signals';
import { createFiles } from '../files/files.js';
import { camera, microphone } from '../media/input.js';
import { startMeasuring } from '../media/levels.js';
import type { Link } from '../media/peer.js';
import { createPeers, type Peers } from '../media/peers.js';
import { screen, stopSharing } from '../media/screen.js';
import { createOutbox } from '../messages/outbox.js';
import { clearTimeline, updateTransfer } from '../messages/timeline.js';
import type { Return } from '../protocol/session.js';
import { resetStage } from '../stage/layout.js';
import { texts } from '../texts.js';
import { announce } from './announcer.js';
import { listen, session } from './connection.js';
import { createNotices } from './notices.js';
import { panel } from './panel.js';
import { links, me, nameOf, room, state, type Ticket, ticket, view } from './state.js';
import { closeDevices, flagsOnJoin, openDevices } from './switches.js';

let peers: Peers | undefined;

export const outbox = createOutbox({ send: (message) => session.send({ type: 'chat', ...message }), announce });
export const files = createFiles({
  send: session.send,
  bufferedBytes: () => session.bufferedBytes,
  onChange: updateTransfer,
});
listen(
  createNotices({
    outbox,
    files,
    onSignal: (from, signal) => peers?.onSignal(from, signal),
    me: () => me.peek(),
    nameOf,
  }),
);

/** Identifies the newest attempt to join. */
let attempts = 0;

/** Joins a meeting. `visit`: returns to it after a reload. */
export async function enter(next: Ticket, visit?: Return): Promise<void> {
  const attempt = ++attempts;
  ticket.value = next;
  clearTimeline();
  resetStage();
  panel.value = undefined;
  outbox.enter(next.roomId);
  state.value = { ...state.value, status: 'joining', trouble: visit ? texts.rejoining : '', errorCode: undefined };
  void openDevices();
  const iceServers = await loadIceServers();
  if (attempt !== attempts) return;
  peers?.close();
  peers = createPeers({ iceServers, tracks, send: session.send, onChange: updateLink });
  const { title: _, ...join } = next;
  session.join(join, flagsOnJoin(visit?.flags), visit);
}

export function leave(): void {
  attempts++;
  session.leave();
}

function updateLink(id: string, link: Link | undefined) {
  const next = new Map(links.value);
  if (link) next.set(id, link);
  else next.delete(id);
  links.value = next;
}

/** Milliseconds after which to join without ICE servers: peers connect only within one network, then. */
const CONFIG_WITHIN_MS = 5000;

const loadIceServers = (): Promise<readonly RTCIceServer[]> =>
  fetch('config', { signal: AbortSignal.timeout(CONFIG_WITHIN_MS) })
    .then((response) => response.json())
    .then(({ iceServers }) => iceServers)
    .catch(() => []);

const tracks = () => ({
  video: camera.track.value ?? null,
  audio: microphone.track.value ?? null,
  screen: screen.value?.getVideoTracks()[0] ?? null,
  screenSound: screen.value?.getAudioTracks()[0] ?? null,
});
effect(() => {
  const current = tracks();
  peers?.replaceTracks(current);
});
addEventListener('online', () => peers?.restartIce());

effect(() => {
  const { status, room } = state.value;
  const isInside = view.value === 'meeting';
  untracked(() => {
    outbox.setConnected(status === 'inside');
    if (status === 'out') {
      peers?.close();
      stopSharing();
    } else if (isInside) peers?.update(room, status === 'away');
  });
});

let isVisiting = false;
effect(() => {
  const wasVisiting = isVisiting;
  isVisiting = view.value !== 'lobby';
  if (wasVisiting && !isVisiting) untracked(closeDevices);
});

effect(() => (view.value === 'meeting' ? startMeasuring(() => me.peek(), otherLevels) : undefined));

function otherLevels(): ReadonlyMap<string, number> {
  const { people, me } = room.peek();
  const ids = [...people.keys()].filter((id) => id !== me);
  return new Map(ids.map((id) => [id, peers?.levelOf(id) ?? 0]));
}
