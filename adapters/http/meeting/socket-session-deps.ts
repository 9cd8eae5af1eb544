/** What the conversation with one client of the meetings stands on: what all of them share, and what is its own. */
import type { TokenBucket } from '../../../application/concurrency/index.js';
import type { Rooms } from '../../../application/meeting/audience/audience.js';
import type { MeetingChat } from '../../../application/meeting/chat-messages.js';
import type { RoomEntry } from '../../../application/meeting/join-room.js';
import type { ParticipantActions } from '../../../application/meeting/participant-actions.js';
import type { SignalRelay } from '../../../application/meeting/relay-signal.js';
import type { Clock, CommandContext, Logger, Position, Quota } from '../../../application/ports/index.js';
import type { Audience } from '../../../application/subscription/index.js';
import type { MeetingEvent } from '../../../domain/meeting/catalog.js';
import type { Relay } from '../../realtime/relay/relay.js';
import type { Speaker } from '../../realtime/websocket/session.js';
import type { TakenSeat } from './socket-seat.js';

/** Told of clients, one more (1) or less (-1) each time. */
export interface SocketObserver {
  /** That are connected. */
  open(change: 1 | -1): void;
  /** That wait until they may change or say something more. */
  slowed(change: 1 | -1): void;
}

export interface SocketSessionDeps {
  readonly entering: RoomEntry;
  readonly inside: ParticipantActions;
  readonly talk: MeetingChat;
  readonly signals: SignalRelay;
  readonly relay: Pick<Relay<Rooms>, 'connect' | 'state'>;
  readonly audience: Pick<Audience<Rooms, MeetingEvent>, 'on'>;
  /** True once the relay has told of everything up to there; false when that takes long. */
  readonly hears: (position: Position) => Promise<boolean>;
  readonly clock: Clock;
  /** Of what only ever goes on. */
  readonly monotonic?: Clock | undefined;
  readonly observe?: SocketObserver | undefined;
  /** Told of every seat that is taken. */
  readonly onSeatTaken: (seat: TakenSeat) => void;
  /** Milliseconds for which the place of a lost connection is held. */
  readonly returnMs: number;
  /** The process stops. */
  readonly isClosing: () => boolean;
}

export interface UnknownRooms {
  /** Counts one more; true if it was the last that is allowed for now. */
  countAttempt(): Promise<boolean>;
  /** Whether the network has asked too often, and has to wait. */
  isExhausted(): boolean;
}

export interface Client {
  readonly speaker: Speaker;
  /** A keyed digest of its address. */
  readonly caller: string;
  /** How often its network has tried to join rooms that do not exist. */
  readonly unknownRooms: UnknownRooms;
  /** What it costs to open one room after the other: the first came with the connection, which has cost as much. */
  readonly roomQuota: Quota;
  /** How fast its network says things to all, by their bytes in the log. */
  readonly chatRate: TokenBucket;
  /** And how fast it changes rooms. */
  readonly changeRate: TokenBucket;
  readonly logger: Logger;
  /** Of one command. */
  readonly context: () => CommandContext;
}
