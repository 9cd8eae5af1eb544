/** Reads a room: the rows of the read model, their secrets opened on the way out. */
import type { Envelope } from '../../domain/rooms/messages.js';
import { messagesStream } from '../../domain/rooms/messages.js';
import { isOpen, notFound, roomStream, type SigningPublicKey } from '../../domain/rooms/room.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Clock, Position, Rows, Settled, Vault } from '../ports.js';
import type { Streams } from '../streams.js';
import type { Admitted } from './admission.js';
import { roomKind } from './kinds.js';
import { iso, type MessageView, messageView, type ParticipantView, participantView } from './views.js';

interface StateRow {
  readonly _at: { toBigInt(): bigint };
  /** On the room's own row, the first. */
  readonly participants?: readonly Sealed<{ id: string; joinedAt: number }>[];
  /** On the rows after it. */
  readonly messages?: readonly Sealed<{
    id: string;
    senderId: string;
    createdAt: number;
    expiresAt: number;
  }>[];
}

type Sealed<Fields> = Fields & { readonly secret: string };

export interface RoomView {
  readonly roomId: string;
  readonly expiresAt: string;
  readonly participants: readonly ParticipantView[];
  readonly messages: readonly MessageView[];
}

export interface Found {
  readonly body: RoomView;
  /** A stream resumed from here misses nothing of the room. */
  readonly position: Position;
  readonly consistency?: 'pending';
}

export interface QueryPorts {
  readonly rows: Rows;
  readonly settled: Settled;
  readonly vault: Vault;
  readonly streams: Streams;
  readonly clock: Clock;
}

export type RoomQueries = ReturnType<typeof createRoomQueries>;

export function createRoomQueries({ rows, settled, vault, streams, clock }: QueryPorts) {
  /** Messages never change: what was made of one is kept for as long as the vault keeps it open. */
  const shown = new WeakMap<object, MessageView>();

  /** `after` is a message's id: messages after it, or all when it is unknown; `seen` must be reflected. */
  async function state(
    { roomId, room }: Admitted,
    after?: string,
    seen: Position = 0n,
  ): Promise<Found | Rejection> {
    const told = settled.latest([roomStream(roomId), messagesStream(roomId)]);
    const inStep = await settled.wait('rooms', told > seen ? told : seen);
    const found = await rows.find<StateRow>('rooms.state', { filter: { room: roomId }, sort: { _id: 1 } });
    const kept = found.flatMap(({ messages = [] }) => messages);
    const wanted = kept.slice(kept.findIndex(({ id }) => id === after) + 1);

    const open = async <Secret extends object>({ secret }: { secret: string }) =>
      (await vault.open(roomStream(roomId), secret)) as Secret | undefined;
    const people = found.find((row) => row.participants)?.participants ?? [];
    const readPeople = await Promise.all(
      people.map(async (each) => {
        const person = await open<{ name: string; signingPublicKey: SigningPublicKey }>(each);
        return person && participantView({ id: each.id, joinedAt: each.joinedAt, ...person });
      }),
    );
    const readMessages = await Promise.all(
      wanted.map(async (each) => {
        const said = await open<{ envelope: Envelope }>(each);
        if (!said) return undefined;
        const { id, senderId, createdAt, expiresAt } = each;
        const { envelope } = said;
        const view = shown.get(said) ?? messageView({ id, roomId, senderId, createdAt, expiresAt, envelope });
        shown.set(said, view);
        return view;
      }),
    );
    const messages = readMessages.filter((each) => each !== undefined);
    const known = readPeople.filter((each) => each !== undefined);
    const readable = known.length === people.length && messages.length === wanted.length;
    // What can't be read is damaged, unless the log says that the room was burned while we were reading.
    const participants = readable && people.length > 0 ? known : await participantsOf(roomId);
    if (!participants) return notFound;

    const position = found.reduce((latest, { _at }) => max(latest, _at.toBigInt()), 0n);
    const body = { roomId, expiresAt: iso(room.expiresAt), participants, messages };
    return { body, position, ...(inStep ? {} : { consistency: 'pending' }) };
  }

  /** Where the room's row is still to come, gone or damaged, the log has the last word. */
  async function participantsOf(roomId: string): Promise<ParticipantView[] | undefined> {
    const { state: room } = await streams.refresh(roomKind, roomStream(roomId));
    return isOpen(room, clock.now()) ? room.participants.map(participantView) : undefined;
  }

  return { state };
}

const max = (a: Position, b: Position): Position => (a > b ? a : b);
