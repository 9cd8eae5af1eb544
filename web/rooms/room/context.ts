/** The open room and what its view shows, for all components of the view. */
import { type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ListControl } from '../../shared/components/anchored-list.js';
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
  /** Id of the message whose actions the Tab key reaches; the last one without. */
  readonly activeMessage: Signal<string | undefined>;
  readonly list: Signal<ListControl | undefined>;
}

export const createRoomView = (session: RoomSession): RoomView => ({
  session,
  panel: signal(undefined),
  dialog: signal(undefined),
  replyTo: signal(undefined),
  activeMessage: signal(undefined),
  list: signal(undefined),
});

export const RoomContext = createContext<RoomView | undefined>(undefined);

export function useRoom(): RoomView {
  const view = useContext(RoomContext);
  if (!view) throw new Error('No room is open');
  return view;
}

/** As people call themselves; `you` for oneself. */
export const nameOf = (session: RoomSession, id: string): string =>
  id === session.ownId ? texts.message.you : fullNameOf(session, id);

/** The name, with the beginning of the fingerprint where two people have the same. */
export function fullNameOf({ conversation, roster }: RoomSession, id: string): string {
  const { members } = conversation.value;
  const name = members.get(id)?.name;
  if (name === undefined) return texts.message.unknown;
  const isShared = [...members.values()].some(
    (each) => each.id !== id && each.name.toLowerCase() === name.toLowerCase(),
  );
  return isShared ? `${name} (${roster.fingerprints.value.get(id)?.slice(0, 5) ?? id})` : name;
}
