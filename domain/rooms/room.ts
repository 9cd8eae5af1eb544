/** Room aggregate: participants, invites and expiry. Stream `rooms.room-<id>`. */
import { type Decider, type Evolve, type Rejection, sameText, tidy } from '../shared/index.js';
import { NAMELESS, type RoomsEvent, roomSubject, type SigningPublicKey } from './catalog.js';

export const MAX_PARTICIPANTS = 16;
export const MAX_INVITES = 64;
export const NAME_LENGTH = 48;

export interface Participant {
  readonly id: string;
  readonly joinedAt: number;
  /** SHA-256 of the session token. */
  readonly tokenHash: string;
  readonly name: string;
  /** Null after the room's key was destroyed. */
  readonly signingPublicKey: SigningPublicKey | null;
}

interface Invite {
  readonly id: string;
  readonly tokenHash: string;
  readonly used: boolean;
}

export interface RoomState {
  readonly status: 'none' | 'open' | 'burned' | 'expired';
  readonly erased: boolean;
  readonly expiresAt: number;
  /** In order of joining. */
  readonly participants: readonly Participant[];
  readonly invites: readonly Invite[];
}

interface Newcomer {
  readonly participantId: string;
  readonly tokenHash: string;
  readonly name?: string;
  readonly signingPublicKey: SigningPublicKey;
}

export type RoomCommand =
  | ({ type: 'CreateRoom'; roomId: string; ttlMs: number; now: number } & Newcomer)
  | { type: 'CreateInvite'; roomId: string; by: string; inviteId: string; inviteHash: string; now: number }
  | ({ type: 'JoinRoom'; roomId: string; inviteHash: string; now: number } & Newcomer)
  | { type: 'BurnRoom'; roomId: string; by: string; now: number }
  | { type: 'ExpireRoom'; roomId: string; now: number }
  | { type: 'EraseRoom'; roomId: string; now: number };

type Command<Type extends RoomCommand['type']> = Extract<RoomCommand, { type: Type }>;

/** Events of a room's own stream; messages have another one. */
export type RoomEvent = RoomsEvent<
  'RoomCreated' | 'ParticipantJoined' | 'InviteCreated' | 'InviteRedeemed' | 'RoomBurned' | 'RoomExpired' | 'RoomErased'
>;

/** Ended rooms keep no participants or invites in memory. */
const noMembers = { participants: [], invites: [] };

const initialState: RoomState = { status: 'none', erased: false, expiresAt: 0, ...noMembers };

export const notFound: Rejection = { rejected: 'rooms/room-not-found', kind: 'not-found' };

export const roomStream = (roomId: string): string => roomSubject({ roomId });

/** Finds a participant by the hash of the session token. */
export const participantByToken = ({ participants }: RoomState, tokenHash: string): Participant | undefined =>
  participants.find((each) => sameText(each.tokenHash, tokenHash));

/** A room expires by the clock, even before `RoomExpired` is written. */
export const isOpen = ({ status, expiresAt }: RoomState, now: number): boolean => status === 'open' && now < expiresAt;

function decide(command: RoomCommand, state: RoomState): readonly RoomEvent[] | Rejection {
  switch (command.type) {
    case 'CreateRoom':
      return create(command, state);
    case 'ExpireRoom':
      return expire(command, state);
    case 'EraseRoom':
      return erase(command, state);
    default:
      return isOpen(state, command.now) ? decideInOpenRoom(command, state) : notFound;
  }
}

function decideInOpenRoom(
  command: Command<'CreateInvite' | 'JoinRoom' | 'BurnRoom'>,
  state: RoomState,
): readonly RoomEvent[] | Rejection {
  if (command.type === 'JoinRoom') return join(command, state);
  if (!state.participants.some(({ id }) => id === command.by)) {
    // Participants are identified by their membership, so others are unauthenticated.
    return { rejected: 'rooms/not-a-participant', kind: 'unauthenticated' };
  }
  if (command.type === 'CreateInvite') return invite(command, state);
  const { roomId, by, now } = command;
  return [{ type: 'RoomBurned', data: { roomId, by, burnedAt: now } }];
}

function create(command: Command<'CreateRoom'>, { status }: RoomState): readonly RoomEvent[] | Rejection {
  if (status !== 'none') return { rejected: 'rooms/room-exists', kind: 'conflict' };
  const { roomId, ttlMs, now } = command;
  return [
    { type: 'RoomCreated', data: { roomId, createdAt: now, expiresAt: now + ttlMs } },
    participantJoined(roomId, command, now),
  ];
}

function invite(
  { roomId, by, inviteId, inviteHash, now }: Command<'CreateInvite'>,
  { invites, expiresAt }: RoomState,
): readonly RoomEvent[] | Rejection {
  if (invites.length >= MAX_INVITES) {
    return { rejected: 'rooms/too-many-invites', kind: 'limit', retryAfterMs: expiresAt - now };
  }
  if (invites.some(({ tokenHash }) => sameText(tokenHash, inviteHash))) {
    return { rejected: 'rooms/invite-exists', kind: 'conflict' };
  }
  return [{ type: 'InviteCreated', data: { roomId, inviteId, by, inviteHash, createdAt: now } }];
}

/** A rejected join leaves the invite unused. */
function join(command: Command<'JoinRoom'>, state: RoomState): readonly RoomEvent[] | Rejection {
  const { roomId, inviteHash, participantId, now } = command;
  const found = state.invites.find(({ tokenHash }) => sameText(tokenHash, inviteHash));
  if (!found) return { rejected: 'rooms/invite-not-found', kind: 'not-found' };
  if (found.used) return { rejected: 'rooms/invite-used', kind: 'gone' };
  if (state.participants.length >= MAX_PARTICIPANTS) return { rejected: 'rooms/room-full', kind: 'conflict' };
  return [
    { type: 'InviteRedeemed', data: { roomId, inviteId: found.id, participantId, redeemedAt: now } },
    participantJoined(roomId, command, now),
  ];
}

function participantJoined(
  roomId: string,
  { participantId, tokenHash, name, signingPublicKey }: Newcomer,
  now: number,
): RoomsEvent<'ParticipantJoined'> {
  const { x, y } = signingPublicKey;
  const secret = {
    name: tidy(name ?? '', NAME_LENGTH) || NAMELESS,
    signingPublicKey: { kty: 'EC', crv: 'P-256', x, y },
  } as const;
  return { type: 'ParticipantJoined', data: { roomId, participantId, joinedAt: now, tokenHash, secret } };
}

const expire = ({ roomId, now }: Command<'ExpireRoom'>, { status, expiresAt }: RoomState): RoomEvent[] =>
  status === 'open' && now >= expiresAt ? [{ type: 'RoomExpired', data: { roomId, expiredAt: now } }] : [];

const erase = ({ roomId, now }: Command<'EraseRoom'>, { status, erased }: RoomState): RoomEvent[] =>
  !erased && (status === 'burned' || status === 'expired')
    ? [{ type: 'RoomErased', data: { roomId, erasedAt: now } }]
    : [];

const evolve: Evolve<RoomState, RoomEvent> = {
  RoomCreated: (state, { expiresAt }) => ({ ...state, status: 'open', expiresAt }),
  ParticipantJoined(state, { participantId: id, joinedAt, tokenHash, secret }) {
    return { ...state, participants: [...state.participants, { id, joinedAt, tokenHash, ...secret }] };
  },
  InviteCreated(state, { inviteId: id, inviteHash: tokenHash }) {
    return { ...state, invites: [...state.invites, { id, tokenHash, used: false }] };
  },
  InviteRedeemed(state, { inviteId }) {
    const spend = (each: Invite) => (each.id === inviteId ? { ...each, used: true } : each);
    return { ...state, invites: state.invites.map(spend) };
  },
  RoomBurned: (state) => ({ ...state, ...noMembers, status: 'burned' }),
  RoomExpired: (state) => ({ ...state, ...noMembers, status: 'expired' }),
  RoomErased: (state) => ({ ...state, erased: true }),
};

export const room: Decider<RoomState, RoomCommand, RoomEvent> = { initialState, decide, evolve };
