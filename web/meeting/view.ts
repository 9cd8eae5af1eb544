/** Renders the page for a session state: lobby, waiting room, or meeting. */
import { byId } from '../shared/dom.js';
import type { Distance } from './peers.js';
import type { Row } from './people.js';
import { isModerator, type Room } from './room.js';
import type { State } from './session.js';
import type { Tile } from './stage.js';

export interface View {
  showTiles(tiles: ReadonlyMap<string, Tile>): void;
  showPeople(rows: ReadonlyMap<string, Row>): void;
  showWaiting(names: ReadonlyMap<string, string>): void;
  streamOf(id: string): MediaStream | undefined;
  distanceTo(id: string): Distance | undefined;
}

/** Returns whether we are inside, so that the room is rendered. */
export function showState({ status, room, roomId, trouble }: State, title: string): boolean {
  const isInside = room.isInside && (status === 'inside' || status === 'away');
  const isWaiting = !room.isInside && (status === 'waiting' || status === 'away');
  byId('lobby').hidden = isInside || isWaiting;
  byId('waiting').hidden = !isWaiting;
  byId('meeting').hidden = !isInside;
  for (const id of ['lobby-trouble', 'trouble', 'waiting-trouble']) {
    // Setting the same text would make screen readers repeat it.
    if (byId(id).textContent !== trouble) byId(id).textContent = trouble;
    byId(id).hidden = trouble === '';
  }
  if (!isInside) return false;
  if (location.hash !== `#${roomId}`) history.replaceState(null, '', `#${roomId}`);
  byId('room-id').textContent = roomId;
  byId('title').textContent = title || 'Meeting';
  return true;
}

export function showRoom(room: Room, view: View): void {
  const { me, people, waiting, isLocked, recordingBy } = room;
  const canModerate = isModerator(room);
  const tiles = Array.from(people, ([id, person]) => {
    const isMe = id === me;
    return [id, { ...person, isMe, stream: view.streamOf(id), distance: view.distanceTo(id) }] as const;
  });
  view.showTiles(new Map(tiles));
  view.showPeople(new Map(Array.from(people, ([id, each]) => [id, { ...each, isMe: id === me, canModerate }])));
  view.showWaiting(waiting);
  byId('how-many').textContent = String(people.size);
  byId('waiting-people').hidden = waiting.size === 0;
  byId('locked').hidden = !isLocked;
  const recording = byId('recording');
  recording.hidden = recordingBy === undefined;
  const recorder = recordingBy === me ? 'you' : (people.get(recordingBy ?? '')?.name ?? 'somebody');
  recording.textContent = `● Recorded by ${recorder}`;
}
