/** Video tiles of all participants, with their connection state. */
import { element, type ListEntry, list } from '../shared/dom.js';
import { initials } from './camera.js';
import { nameWithBadges } from './names.js';
import type { Distance } from './peers.js';
import { badgesOf } from './people.js';
import type { Person } from './room.js';

export interface Tile extends Person {
  readonly isMe: boolean;
  readonly stream: MediaStream | undefined;
  readonly distance: Distance | undefined;
}

const REACTION_MS = 3000;

/** Named reactions; others are shown as text. */
export const REACTIONS: ReadonlyMap<string, string> = new Map([
  ['thumb', '👍'],
  ['clap', '👏'],
  ['party', '🎉'],
  ['heart', '❤️'],
  ['laugh', '😂'],
]);

const STATES: { readonly [state in RTCPeerConnectionState]: string } = {
  new: 'connecting',
  connecting: 'connecting',
  connected: 'connected',
  disconnected: 'interrupted',
  failed: 'no direct connection',
  closed: 'closed',
};

export function createStage(container: HTMLElement) {
  const tiles = new Map<string, HTMLElement>();

  function show(id: string): ListEntry<Tile> {
    const video = element('video', { autoplay: true, playsInline: true });
    const face = element('div', { className: 'initials', 'aria-hidden': 'true' });
    const caption = element('figcaption');
    const distance = element('span', { className: 'distance' });
    const tile = element('figure', { className: 'tile', 'data-id': id }, video, face, caption, distance);
    tiles.set(id, tile);
    return {
      element: tile,
      update({ stream, distance: measurement, ...person }) {
        const { name, isMe, isVideoOff, isDisconnected } = person;
        // Avoids hearing ourselves.
        video.muted = isMe;
        if (stream && video.srcObject !== stream) video.srcObject = stream;
        face.textContent = initials(name);
        face.hidden = !isVideoOff;
        caption.replaceChildren(...nameWithBadges(name, ...badgesOf(person)));
        tile.toggleAttribute('data-lost', isDisconnected);
        const state = measurement?.state ?? 'new';
        tile.dataset.state = isMe ? 'own' : state;
        distance.hidden = isMe;
        const ms = state === 'connected' ? measurement?.roundTripMs : undefined;
        const direct = ms === undefined ? STATES[state] : `direct, ${Math.max(1, Math.round(ms))} ms`;
        distance.textContent = isDisconnected ? 'connection lost' : direct;
      },
      onRemove: () => tiles.delete(id),
    };
  }

  return {
    show: list<Tile>(container, show),
    react(id: string, reaction: string) {
      const bubble = element('span', {
        className: 'reaction',
        textContent: REACTIONS.get(reaction) ?? reaction,
      });
      tiles.get(id)?.append(bubble);
      setTimeout(() => bubble.remove(), REACTION_MS);
    },
  };
}
