/** The open room and what its view shows, for all components of the view. */
import { type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { RoomSession } from '../session.js';
import { texts } from '../texts.js';

export type DialogName = 'invite' | 'rename' | 'retitle' | 'rotate' | 'forget' | 'burn';

export interface RoomView {
  readonly session: RoomSession;
  readonly panel: Signal<'people' | 'server' | undefined>;
  /** A dialog by name, or about a participant. */
  readonly dialog: Signal<DialogName | { readonly about: string } | undefined>;
  /** Id of the message that the next one replies to. */
  readonly replyTo: Signal<string | undefined>;
}

export const createRoomView = (session: RoomSession): RoomView => ({
  session,
  panel: signal(undefined),
  dialog: signal(undefined),
  replyTo: signal(undefined),
});

export const RoomContext = createContext<RoomView | undefined>(undefined);

export function useRoom(): RoomView {
  const view = useContext(RoomContext);
  if (!view) throw new Error('No room is open');
  return view;
}

/** As people call themselves; `you` for oneself. */
export function nameOf({ conversation, ownId }: RoomSession, id: string): string {
  return id === ownId ? texts.message.you : (conversation.value.members.get(id)?.name ?? texts.message.unknown);
}
