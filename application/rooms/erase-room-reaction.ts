/** Erases a room after its end: destroys its key, tombstones its messages, records `RoomErased`. */

import type { RoomsEvent } from '../../domain/rooms/catalog.js';
import { messagesStream } from '../../domain/rooms/messages.js';
import { roomStream } from '../../domain/rooms/room.js';
import { isRejection } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import type { EventLog, RecordedEvent } from '../ports/index.js';
import { causedBy, type Reaction } from '../subscription/index.js';
import { roomAggregate } from './aggregates.js';

export interface ErasePorts extends Pick<KernelPorts, 'handle' | 'vault' | 'derivation' | 'clock'> {
  readonly log: Pick<EventLog, 'tombstone'>;
}

type Ended = RoomsEvent<'RoomBurned' | 'RoomExpired'>;

/** Every step is idempotent; a run after a crash completes the remaining steps. */
export function eraseReaction({ handle, log, vault, derivation, clock }: ErasePorts): Reaction<Ended> {
  async function erase(event: RecordedEvent<Ended>) {
    const { roomId } = event.data;
    const stream = roomStream(roomId);
    await vault.destroy(stream);
    await log.tombstone(messagesStream(roomId));
    const outcome = await handle(
      roomAggregate,
      stream,
      { type: 'EraseRoom', roomId, now: clock.now() },
      causedBy(derivation, 'rooms.erase', event),
    );
    if (isRejection(outcome)) throw new Error(outcome.rejected);
  }

  return { name: 'rooms.erase', retryInBackground: true, on: { RoomBurned: erase, RoomExpired: erase } };
}
