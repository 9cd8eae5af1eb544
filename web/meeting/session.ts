/** Being in a meeting: joining, waiting, coming back after the connection was lost, and why it ended. */
import { type Line, openLine, REFUSED, REMOVED, REPLACED } from './line.js';
import type { Heard, Join, Said } from './messages.js';
import { plainName } from './names.js';
import { after, changed, emptyRoom, type Person, type Room } from './room.js';
import { inWords } from './words.js';

export interface State {
  /** `away`: the connection is lost, and it will be tried again. */
  readonly status: 'out' | 'joining' | 'waiting' | 'inside' | 'away';
  readonly room: Room;
  readonly roomId: string;
  /** Why we are out, or away, in plain words. */
  readonly trouble: string;
}

export interface SessionHearing {
  changed(state: State): void;
  /** What there is to do besides what the state says. */
  heard(message: Heard): void;
}

export interface Session {
  readonly state: State;
  /** Bytes that are said and not sent yet. */
  readonly unsent: number;
  /** Settles nothing: `changed` tells what becomes of it. */
  join(wish: Omit<Join, 'type'>): void;
  leave(): void;
  say(message: Said): void;
  /** Says what we change of ourselves. */
  change(flags: Partial<Person>, message: Said): void;
}

/** Who was there before the connection was lost, and is not named again by then, has left meanwhile. */
const NAMED_WITHIN_MS = 3000;

export function createSession(url: URL, hearing: SessionHearing): Session {
  let line: Line | undefined;
  let wish: Omit<Join, 'type'> | undefined;
  /** What lets us come back as who we are. */
  let place: { readonly participantId: string; readonly resumeToken: string } | undefined;
  let state: State = { status: 'out', room: emptyRoom, roomId: '', trouble: '' };

  function become(next: Partial<State>) {
    state = { ...state, ...next };
    hearing.changed(state);
  }

  function out(trouble: string) {
    wish = undefined;
    place = undefined;
    become({ status: 'out', room: emptyRoom, trouble });
  }

  function hangUp() {
    line?.hangUp();
    line = undefined;
  }

  function sayJoin() {
    // Whoever comes back makes no meeting anew.
    if (wish) line?.say({ type: 'join', ...wish, ...place, ...(place && { isHost: false }) });
  }

  function lost(code: number, reason: string, againInMs: number | undefined) {
    if (againInMs === undefined) {
      line = undefined;
      if (!wish) return;
      if (code === REPLACED) return out('You are in the meeting from elsewhere now.');
      if (code === REMOVED) return out('A moderator removed you from the meeting.');
      if (code === REFUSED) return out('You were not let in.');
      return out(reason || 'The service has ended the connection.');
    }
    if (!wish) return hangUp();
    const seconds = Math.ceil(againInMs / 1000);
    const trouble = `No connection to the service. Trying again in ${seconds} s.`;
    become({ status: place ? 'away' : 'joining', trouble });
  }

  /** The room is told to us anew when we come back; people stay until it is clear that they have left. */
  function returned(message: Heard): void {
    const before = state.room.people;
    state = { ...state, room: after(emptyRoom, message) };
    const kept = [...before].filter(([id]) => id !== message.participantId);
    state = { ...state, room: { ...state.room, people: new Map([...state.room.people, ...kept]) } };
    const unnamed = new Set(kept.map(([id]) => id));
    named = (id) => unnamed.delete(id);
    setTimeout(() => {
      let { room } = state;
      for (const participantId of unnamed) {
        room = after(room, { ...message, type: 'participant-left', participantId });
      }
      become({ room });
    }, NAMED_WITHIN_MS);
  }
  let named: (id: string) => void = () => {};

  function heard(said: Heard) {
    const message = 'name' in said ? { ...said, name: plainName(said.name) } : said;
    // What comes of a meeting that we have left is none of ours any more.
    if (!wish || (message.roomId && message.roomId !== wish.roomId)) return;
    // Inside, it is about something we did there.
    if (message.type === 'error' && state.status !== 'inside') return out(inWords(message));
    if (message.type === 'reject-user') {
      // The service ends this connection: who tries again needs another.
      hangUp();
      return out(`You were not let in. ${message.reason}`.trim());
    }
    if (message.type === 'participant-joined' || message.type === 'waiting-room') {
      if (message.resumeToken)
        place = { participantId: message.participantId, resumeToken: message.resumeToken };
      if (state.status === 'away') returned(message);
      else named(message.participantId);
    }
    const room = after(state.room, message);
    const status = room.me === undefined ? state.status : room.isInside ? 'inside' : 'waiting';
    if (room !== state.room || status !== state.status)
      become({ room, status, roomId: message.roomId || state.roomId, trouble: '' });
    hearing.heard(message);
  }

  return {
    get state() {
      return state;
    },
    get unsent() {
      return line?.unsent ?? 0;
    },
    join(wanted) {
      wish = wanted;
      place = undefined;
      become({ status: 'joining', room: emptyRoom, trouble: '' });
      if (!line) line = openLine(url, { opened: sayJoin, heard, lost });
      else sayJoin();
    },
    leave() {
      if (line?.isOpen) line.say({ type: 'leave' });
      else hangUp();
      out('');
    },
    say: (message) => line?.say(message),
    change(flags, message) {
      line?.say(message);
      become({ room: changed(state.room, flags) });
    },
  };
}
