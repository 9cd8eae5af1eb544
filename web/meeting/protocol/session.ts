/** Meeting session: joining, waiting, reconnecting, and why it ended. */
import { errorText, texts } from '../texts.js';
import type { ClientMessage, Flags, Join, ServerMessage } from './messages.js';
import { plainName } from './names.js';
import { confirmedBy, roomOnReturn, unconfirmedOf } from './reconnect.js';
import { applyMessage, changeOwnFlags, emptyRoom, isNewInformation, type Person, type Room } from './room.js';
import { openSocket, REFUSED, REMOVED, REPLACED, type ReconnectingSocket } from './socket.js';

export interface State {
  /** `away`: the connection is lost and is being retried. */
  readonly status: 'out' | 'joining' | 'waiting' | 'inside' | 'away';
  readonly room: Room;
  readonly roomId: string;
  /** Why the session ended or is away; shown to the user. */
  readonly trouble: string;
  /** The service's code, if it refused the join. */
  readonly errorCode?: string | undefined;
}

export interface SessionListener {
  onStateChange(state: State): void;
  /** Handles messages besides the state; repeated ones are not passed on. */
  onMessage(message: ServerMessage): void;
}

/** Credentials with which we return as the same participant. */
export interface Credentials {
  readonly participantId: string;
  readonly resumeToken: string;
}

/** Identity to restore after a reload of the page. */
export interface Identity {
  readonly place: Credentials;
  /** Absent while we wait to be admitted. */
  readonly flags?: Flags | undefined;
}

/** A return after a reload of the page. */
export interface Return extends Identity {
  /** Unix ms; later the service treats us as a new participant. */
  readonly until: number;
}

export interface Session {
  readonly state: State;
  /** Undefined after leaving or being removed. */
  readonly identity: Identity | undefined;
  /** Bytes not sent to the network yet. */
  readonly bufferedBytes: number;
  /**
   * Starts joining; `onStateChange` reports the outcome. `initialFlags`: sent to the room once we are inside.
   */
  join(joinRequest: Omit<Join, 'type'>, initialFlags: Flags, visit?: Return): void;
  leave(): void;
  /** Returns false, without sending, while we are not in a room. */
  send(message: ClientMessage): boolean;
  /** Changes our own flags; while we are away, sends the change after the reconnect. */
  change(flags: Partial<Flags>, message: ClientMessage): void;
}

/** State from before the disconnect that is not confirmed within this time is dropped. */
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
  /** Our own flags to restore after a reconnect, and those changed while we were away. */
  let flags: Flags | undefined;
  let pendingFlags: Partial<Flags> = {};
  /** Our own flags after a reconnect, until the service has repeated its earlier state. */
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

  function endSession(trouble: string, errorCode?: string) {
    joinRequest = undefined;
    reset();
    update({ status: 'out', room: emptyRoom, trouble, errorCode });
  }

  function closeSocket() {
    socket?.close();
    socket = undefined;
  }

  function sendJoin() {
    if (!joinRequest) return;
    if (pendingReturn && Date.now() > pendingReturn.until) return endSession(texts.ended.tooLong);
    // A returning participant must not open a new meeting.
    socket?.send({ type: 'join', ...joinRequest, ...place, ...(place && { isHost: false }) });
  }

  function onClose(code: number, reason: string, willRetry: boolean) {
    if (!willRetry) {
      socket = undefined;
      if (!joinRequest) return;
      if (code === REPLACED) return endSession(texts.ended.replaced);
      if (code === REMOVED) return endSession(texts.ended.removed);
      if (code === REFUSED) return endSession(texts.ended.notAdmitted(''));
      return endSession(reason || texts.ended.closed);
    }
    if (!joinRequest) return closeSocket();
    clearTimeout(settleTimer);
    const status = state.room.me === undefined ? 'joining' : 'away';
    // The same text each time, so that screen readers announce it once.
    update({ status, trouble: texts.connectionLost });
  }

  /** Keeps the previous state after a reconnect, until the service confirms or replaces it. */
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

  /** Restores our flags. Muted stays muted unless we changed it; hand and video are ours alone. */
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
    // Ignore messages about a meeting we have left.
    if (!joinRequest || (message.roomId && message.roomId !== joinRequest.roomId)) return;
    // Inside, errors concern a single action.
    if (message.type === 'error' && state.status !== 'inside')
      return endSession(errorText(message, joinRequest), message.code);
    if (message.type === 'reject-user') {
      // The service closes this connection; joining again needs a new one.
      closeSocket();
      return endSession(texts.ended.notAdmitted(message.reason));
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
    join(request, initialFlags, pendingVisit) {
      reset();
      joinRequest = request;
      [place, pendingReturn, flags] = [pendingVisit?.place, pendingVisit, pendingVisit?.flags ?? initialFlags];
      update({
        status: 'joining',
        errorCode: undefined,
        room: emptyRoom,
        trouble: pendingVisit ? texts.rejoining : '',
      });
      if (!socket) socket = openSocket(url, { onOpen: sendJoin, onMessage, onClose });
      else sendJoin();
    },
    leave() {
      if (socket?.isOpen) socket.send({ type: 'leave' });
      else closeSocket();
      endSession(state.room.isInside ? texts.ended.left : '');
    },
    send: (message) => state.status === 'inside' && socket?.send(message) === true,
    change(next, message) {
      if (state.status !== 'inside' || !socket?.send(message)) pendingFlags = { ...pendingFlags, ...next };
      if (ownFlags) ownFlags = { ...ownFlags, ...next };
      // Not inside yet.
      if (flags && !ownIn(state.room)) flags = { ...flags, ...next };
      update({ room: changeOwnFlags(state.room, next) });
    },
  };
}
