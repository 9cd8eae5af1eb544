/** Dependencies of a socket session: those shared by all sessions, and those of one client. */
import type { RateLimiter } from '../../../application/concurrency/index.js';
import type { Rooms } from '../../../application/meeting/audience/audience.js';
import type { MeetingChat } from '../../../application/meeting/chat-messages.js';
import type { RoomEntry } from '../../../application/meeting/join-room.js';
import type { ParticipantActions } from '../../../application/meeting/participant-actions.js';
import type { SignalRelay } from '../../../application/meeting/relay-signal.js';
import type { Clock, CommandContext, Logger, Position, Quota } from '../../../application/ports/index.js';
import type { Audience } from '../../../application/subscription/index.js';
import type { MeetingEvent } from '../../../domain/meeting/catalog.js';
import type { Relay } from '../../realtime/relay/relay.js';
import type { SessionControl } from '../../realtime/websocket/session.js';
import type { TakenSeat } from './socket-seat.js';

/** Counts clients; each call adds 1 or -1. */
export interface SocketObserver {
  open(change: 1 | -1): void;
  slowed(change: 1 | -1): void;
}

export interface SocketSessionDeps {
  readonly roomEntry: RoomEntry;
  readonly actions: ParticipantActions;
  readonly chat: MeetingChat;
  readonly signalRelay: SignalRelay;
  readonly relay: Pick<Relay<Rooms>, 'connect' | 'state'>;
  readonly audience: Pick<Audience<Rooms, MeetingEvent>, 'on'>;
  /** Resolves to true once the relay has delivered every event up to the position, to false on a timeout. */
  readonly awaitPosition: (position: Position) => Promise<boolean>;
  readonly clock: Clock;
  readonly monotonic?: Clock | undefined;
  readonly observe?: SocketObserver | undefined;
  readonly onSeatTaken: (seat: TakenSeat) => void;
  /** Milliseconds a disconnected participant keeps their place. */
  readonly returnMs: number;
  readonly isClosing: () => boolean;
}

export interface UnknownRooms {
  /** Counts an attempt. Resolves to true if it used up the limit. */
  countAttempt(): Promise<boolean>;
  /** True while the network exceeds the limit and has to wait. */
  isExhausted(): boolean;
}

export interface Client {
  readonly speaker: SessionControl;
  readonly caller: string;
  readonly unknownRooms: UnknownRooms;
  /** Rooms opened by joining, except the first of a connection, which itself was rate limited. */
  readonly roomQuota: Quota;
  /** Limits chat and reactions of the client's network, in bytes of the log. */
  readonly chatRate: RateLimiter;
  readonly changeRate: RateLimiter;
  readonly logger: Logger;
  readonly context: () => CommandContext;
}
