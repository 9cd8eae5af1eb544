/** Being in a meeting: joining, waiting, coming back after the connection was lost, and why it ended. */
import { inWords } from './error-texts.js';
import type { ClientMessage, Flags, Join, ServerMessage } from './messages.js';
import { plainName } from './names.js';
import { confirmedBy, roomOnReturn, unconfirmedOf } from './reconnect.js';
import { after, changed, emptyRoom, isNews, type Person, type Room } from './room.js';
import { type Line, openLine, REFUSED, REMOVED, REPLACED } from './socket.js';

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
  /** What there is to do besides what the state says; nothing that was so before. */
  heard(message: ServerMessage): void;
}

/** What lets us come back as who we are. */
export interface Place {
  readonly participantId: string;
  readonly resumeToken: string;
}

/** What a reload of the page keeps of us. */
export interface Identity {
  readonly place: Place;
  /** None while we wait to be let in. */
  readonly flags?: Flags | undefined;
}

/** Coming back after a reload of the page. */
export interface Return extends Identity {
  /** Unix ms; later the service would take us for somebody new. */
  readonly until: number;
}

export interface Session {
  readonly state: State;
  /** Undefined when we have left, or were removed. */
  readonly identity: Identity | undefined;
  /** Bytes that are said and not sent yet. */
  readonly unsent: number;
  /** Settles nothing: `changed` tells what becomes of it. */
  join(wish: Omit<Join, 'type'>, back?: Return): void;
  leave(): void;
  /** Returns false, and says nothing, while we are not connected to a room. */
  say(message: ClientMessage): boolean;
  /** Says what we change of ourselves; while we are away it is said when we are back. */
  change(flags: Partial<Flags>, message: ClientMessage): void;
}

/** What was so before the connection was lost, and is not told again by then, is so no more. */
const TOLD_WITHIN_MS = 3000;

const flagsOf = ({ isMuted, isVideoOff, isHandRaised }: Person): Flags => ({
  isMuted,
  isVideoOff,
  isHandRaised,
});
const ownIn = ({ me, people }: Room): Person | undefined => people.get(me ?? '');

export function createSession(url: URL, hearing: SessionHearing): Session {
  let line: Line | undefined;
  let wish: Omit<Join, 'type'> | undefined;
  let back: Return | undefined;
  let place: Place | undefined;
  let state: State = { status: 'out', room: emptyRoom, roomId: '', trouble: '' };
  /** Our own flags as they are to be when we are back, and those of them that were changed while we were away. */
  let flags: Flags | undefined;
  let chosen: Partial<Flags> = {};
  /** Our own flags on return, until the service has told all of how they were. */
  let own: Partial<Flags> | undefined;
  let unconfirmed = new Map<string, ServerMessage>();
  let settling: ReturnType<typeof setTimeout> | undefined;

  function become(next: Partial<State>) {
    state = { ...state, ...next };
    hearing.changed(state);
  }

  function forget() {
    clearTimeout(settling);
    unconfirmed.clear();
    [place, back, flags, chosen, own] = [undefined, undefined, undefined, {}, undefined];
  }

  function out(trouble: string) {
    wish = undefined;
    forget();
    become({ status: 'out', room: emptyRoom, trouble });
  }

  function hangUp() {
    line?.hangUp();
    line = undefined;
  }

  function sayJoin() {
    if (!wish) return;
    if (back && Date.now() > back.until) return out('You were away too long to come back. Join again.');
    // Whoever comes back makes no meeting anew.
    line?.say({ type: 'join', ...wish, ...place, ...(place && { isHost: false }) });
  }

  function lost(code: number, reason: string, willRetry: boolean) {
    if (!willRetry) {
      line = undefined;
      if (!wish) return;
      if (code === REPLACED) return out('You are in the meeting from elsewhere now.');
      if (code === REMOVED) return out('A moderator removed you from the meeting.');
      if (code === REFUSED) return out('You were not let in.');
      return out(reason || 'The service has ended the connection.');
    }
    if (!wish) return hangUp();
    clearTimeout(settling);
    const status = state.room.me === undefined ? 'joining' : 'away';
    // Always the same words: those who hear the page hear them once.
    become({ status, trouble: 'There is no connection to the service. It is being tried again.' });
  }

  /** The room is told to us anew when we come back; what was so stays until it is clear that it has changed. */
  function returned(message: ServerMessage): void {
    const { room } = state;
    const self = ownIn(room);
    if (self) flags = flagsOf(self);
    state = { ...state, room: roomOnReturn(room, message) };
    unconfirmed = state.room.isInside ? unconfirmedOf(room, message) : new Map();
  }

  function settle() {
    own = undefined;
    for (const each of [...unconfirmed.values()]) heard(each);
  }

  /** Whoever was muted comes back muted, unless they chose otherwise; of the hand and the picture we alone decide. */
  function restoreFlags(before: Flags, told: Person) {
    const isMuted = chosen.isMuted ?? (before.isMuted || told.isMuted);
    own = { ...before, isMuted };
    const { isHandRaised, ...rest } = { ...before, isMuted };
    const hasMovedHand = chosen.isHandRaised !== undefined;
    line?.say({ type: 'participant-updated', ...rest, ...(!hasMovedHand && { isHandRaised }) });
    if (hasMovedHand) line?.say({ type: isHandRaised ? 'raise-hand' : 'lower-hand' });
    [flags, chosen] = [undefined, {}];
  }

  function heard(said: ServerMessage) {
    const message = 'name' in said ? { ...said, name: plainName(said.name) } : said;
    // What comes of a meeting that we have left is none of ours any more.
    if (!wish || (message.roomId && message.roomId !== wish.roomId)) return;
    // Inside, it is about something we did there.
    if (message.type === 'error' && state.status !== 'inside') return out(inWords(message, wish));
    if (message.type === 'reject-user') {
      // The service ends this connection: who tries again needs another.
      hangUp();
      return out(`You were not let in. ${message.reason}`.trim());
    }
    if (message.type === 'participant-joined' || message.type === 'waiting-room') {
      const { participantId, resumeToken } = message;
      if (state.status === 'away') returned(message);
      if (resumeToken) {
        [place, back] = [{ participantId, resumeToken }, undefined];
        clearTimeout(settling);
        settling = setTimeout(settle, TOLD_WITHIN_MS);
      }
    }
    unconfirmed.delete(confirmedBy(message));
    if (message.type === 'moderator-action') own = undefined;
    const isNew = isNews(state.room, message);
    let room = after(state.room, message);
    const self = ownIn(room);
    if (self && message.participantId === room.me) {
      if (flags && message.type === 'participant-joined') restoreFlags(flags, self);
      if (own) room = changed(room, own);
    }
    const status = room.me === undefined ? state.status : room.isInside ? 'inside' : 'waiting';
    if (room !== state.room || status !== state.status)
      become({ room, status, roomId: message.roomId || state.roomId, trouble: '' });
    if (isNew) hearing.heard(message);
  }

  return {
    get state() {
      return state;
    },
    get identity() {
      const self = ownIn(state.room);
      return place && { place, flags: self ? flagsOf(self) : flags };
    },
    get unsent() {
      return line?.unsent ?? 0;
    },
    join(wanted, returning) {
      forget();
      wish = wanted;
      [place, back, flags] = [returning?.place, returning, returning?.flags];
      become({ status: 'joining', room: emptyRoom, trouble: returning ? 'Coming back to the meeting…' : '' });
      if (!line) line = openLine(url, { opened: sayJoin, heard, lost });
      else sayJoin();
    },
    leave() {
      if (line?.isOpen) line.say({ type: 'leave' });
      else hangUp();
      out('');
    },
    say: (message) => state.status === 'inside' && line?.say(message) === true,
    change(next, message) {
      if (state.status !== 'inside' || !line?.say(message)) chosen = { ...chosen, ...next };
      if (own) own = { ...own, ...next };
      become({ room: changed(state.room, next) });
    },
  };
}
