/** Being in a meeting: joining, waiting, coming back after the connection was lost, and why it ended. */
import { errorText } from './error-texts.js';
import type { ClientMessage, Flags, Join, ServerMessage } from './messages.js';
import { plainName } from './names.js';
import { confirmedBy, roomOnReturn, unconfirmedOf } from './reconnect.js';
import { applyMessage, changeOwnFlags, emptyRoom, isNewInformation, type Person, type Room } from './room.js';
import { openSocket, REFUSED, REMOVED, REPLACED, type ReconnectingSocket } from './socket.js';

export interface State {
  /** `away`: the connection is lost, and it will be tried again. */
  readonly status: 'out' | 'joining' | 'waiting' | 'inside' | 'away';
  readonly room: Room;
  readonly roomId: string;
  /** Why we are out, or away, in plain words. */
  readonly trouble: string;
}

export interface SessionListener {
  onStateChange(state: State): void;
  /** What there is to do besides what the state says; nothing that was so before. */
  onMessage(message: ServerMessage): void;
}

/** What lets us come back as who we are. */
export interface Credentials {
  readonly participantId: string;
  readonly resumeToken: string;
}

/** What a reload of the page keeps of us. */
export interface Identity {
  readonly place: Credentials;
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
  readonly bufferedBytes: number;
  /** Settles nothing: `changed` tells what becomes of it. */
  join(joinRequest: Omit<Join, 'type'>, back?: Return): void;
  leave(): void;
  /** Returns false, and says nothing, while we are not connected to a room. */
  send(message: ClientMessage): boolean;
  /** Says what we change of ourselves; while we are away it is said when we are back. */
  change(flags: Partial<Flags>, message: ClientMessage): void;
}

/** What was so before the connection was lost, and is not told again by then, is so no more. */
const CONFIRM_WITHIN_MS = 3000;

const flagsOf = ({ isMuted, isVideoOff, isHandRaised }: Person): Flags => ({
  isMuted,
  isVideoOff,
  isHandRaised,
});
const ownIn = ({ me, people }: Room): Person | undefined => people.get(me ?? '');

export function createSession(url: URL, listener: SessionListener): Session {
  let socket: ReconnectingSocket | undefined;
  let joinRequest: Omit<Join, 'type'> | undefined;
  let pendingReturn: Return | undefined;
  let place: Credentials | undefined;
  let state: State = { status: 'out', room: emptyRoom, roomId: '', trouble: '' };
  /** Our own flags as they are to be when we are back, and those of them that were changed while we were away. */
  let flags: Flags | undefined;
  let pendingFlags: Partial<Flags> = {};
  /** Our own flags on return, until the service has told all of how they were. */
  let ownFlags: Partial<Flags> | undefined;
  let unconfirmed = new Map<string, ServerMessage>();
  let settleTimer: ReturnType<typeof setTimeout> | undefined;

  function update(next: Partial<State>) {
    state = { ...state, ...next };
    listener.onStateChange(state);
  }

  function reset() {
    clearTimeout(settleTimer);
    unconfirmed.clear();
    [place, pendingReturn, flags, pendingFlags, ownFlags] = [undefined, undefined, undefined, {}, undefined];
  }

  function endSession(trouble: string) {
    joinRequest = undefined;
    reset();
    update({ status: 'out', room: emptyRoom, trouble });
  }

  function closeSocket() {
    socket?.close();
    socket = undefined;
  }

  function sendJoin() {
    if (!joinRequest) return;
    if (pendingReturn && Date.now() > pendingReturn.until)
      return endSession('You were away too long to come back. Join again.');
    // Whoever comes back makes no meeting anew.
    socket?.send({ type: 'join', ...joinRequest, ...place, ...(place && { isHost: false }) });
  }

  function onClose(code: number, reason: string, willRetry: boolean) {
    if (!willRetry) {
      socket = undefined;
      if (!joinRequest) return;
      if (code === REPLACED) return endSession('You are in the meeting from elsewhere now.');
      if (code === REMOVED) return endSession('A moderator removed you from the meeting.');
      if (code === REFUSED) return endSession('You were not let in.');
      return endSession(reason || 'The service has ended the connection.');
    }
    if (!joinRequest) return closeSocket();
    clearTimeout(settleTimer);
    const status = state.room.me === undefined ? 'joining' : 'away';
    // Always the same words: those who hear the page hear them once.
    update({ status, trouble: 'There is no connection to the service. It is being tried again.' });
  }

  /** The room is told to us anew when we come back; what was so stays until it is clear that it has changed. */
  function restoreRoom(message: ServerMessage): void {
    const { room } = state;
    const self = ownIn(room);
    if (self) flags = flagsOf(self);
    state = { ...state, room: roomOnReturn(room, message) };
    unconfirmed = state.room.isInside ? unconfirmedOf(room, message) : new Map();
  }

  function dropUnconfirmed() {
    ownFlags = undefined;
    for (const each of [...unconfirmed.values()]) onMessage(each);
  }

  /** Whoever was muted comes back muted, unless they chose otherwise; of the hand and the picture we alone decide. */
  function restoreFlags(before: Flags, current: Person) {
    const isMuted = pendingFlags.isMuted ?? (before.isMuted || current.isMuted);
    ownFlags = { ...before, isMuted };
    const { isHandRaised, ...rest } = { ...before, isMuted };
    const hasHandChange = pendingFlags.isHandRaised !== undefined;
    socket?.send({ type: 'participant-updated', ...rest, ...(!hasHandChange && { isHandRaised }) });
    if (hasHandChange) socket?.send({ type: isHandRaised ? 'raise-hand' : 'lower-hand' });
    [flags, pendingFlags] = [undefined, {}];
  }

  function onMessage(rawMessage: ServerMessage) {
    const message = 'name' in rawMessage ? { ...rawMessage, name: plainName(rawMessage.name) } : rawMessage;
    // What comes of a meeting that we have left is none of ours any more.
    if (!joinRequest || (message.roomId && message.roomId !== joinRequest.roomId)) return;
    // Inside, it is about something we did there.
    if (message.type === 'error' && state.status !== 'inside') return endSession(errorText(message, joinRequest));
    if (message.type === 'reject-user') {
      // The service ends this connection: who tries again needs another.
      closeSocket();
      return endSession(`You were not let in. ${message.reason}`.trim());
    }
    if (message.type === 'participant-joined' || message.type === 'waiting-room') {
      const { participantId, resumeToken } = message;
      if (state.status === 'away') restoreRoom(message);
      if (resumeToken) {
        [place, pendingReturn] = [{ participantId, resumeToken }, undefined];
        clearTimeout(settleTimer);
        settleTimer = setTimeout(dropUnconfirmed, CONFIRM_WITHIN_MS);
      }
    }
    unconfirmed.delete(confirmedBy(message));
    if (message.type === 'moderator-action') ownFlags = undefined;
    const isUnseen = isNewInformation(state.room, message);
    let room = applyMessage(state.room, message);
    const self = ownIn(room);
    if (self && message.participantId === room.me) {
      if (flags && message.type === 'participant-joined') restoreFlags(flags, self);
      if (ownFlags) room = changeOwnFlags(room, ownFlags);
    }
    const status = room.me === undefined ? state.status : room.isInside ? 'inside' : 'waiting';
    if (room !== state.room || status !== state.status)
      update({ room, status, roomId: message.roomId || state.roomId, trouble: '' });
    if (isUnseen) listener.onMessage(message);
  }

  return {
    get state() {
      return state;
    },
    get identity() {
      const self = ownIn(state.room);
      return place && { place, flags: self ? flagsOf(self) : flags };
    },
    get bufferedBytes() {
      return socket?.bufferedBytes ?? 0;
    },
    join(request, pendingVisit) {
      reset();
      joinRequest = request;
      [place, pendingReturn, flags] = [pendingVisit?.place, pendingVisit, pendingVisit?.flags];
      update({ status: 'joining', room: emptyRoom, trouble: pendingVisit ? 'Coming back to the meeting…' : '' });
      if (!socket) socket = openSocket(url, { onOpen: sendJoin, onMessage, onClose });
      else sendJoin();
    },
    leave() {
      if (socket?.isOpen) socket.send({ type: 'leave' });
      else closeSocket();
      endSession('');
    },
    send: (message) => state.status === 'inside' && socket?.send(message) === true,
    change(next, message) {
      if (state.status !== 'inside' || !socket?.send(message)) pendingFlags = { ...pendingFlags, ...next };
      if (ownFlags) ownFlags = { ...ownFlags, ...next };
      update({ room: changeOwnFlags(state.room, next) });
    },
  };
}
