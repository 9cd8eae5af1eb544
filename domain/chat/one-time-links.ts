/** The links of an address: one of a purpose at a time, used once, five mails in a quarter of an hour. Stream `chat.address-<digest>`. */
import type { Decider, Evolve, Rejection, Sealed } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { PURPOSES } from './events/one-time-links.js';

export type Purpose = (typeof PURPOSES)[number];

export interface Link {
  readonly linkId: string;
  readonly expiresAt: number;
  readonly userId: string | undefined;
  /** Sent, or given up. */
  readonly isDone: boolean;
}

export interface AddressState {
  /** The newest of each purpose, until it is spent. */
  readonly links: { readonly [purpose in Purpose]?: Link };
  /** When links were asked for, within a quarter of an hour before the newest. */
  readonly recent: readonly number[];
}

interface About {
  readonly addressId: string;
  readonly purpose: Purpose;
  readonly linkId: string;
  readonly now: number;
}

export type AddressCommand = About &
  (
    | { type: 'RequestLink'; expiresAt: number; userId: string | undefined; email: string }
    | { type: 'RecordMail'; isSent: boolean }
    | { type: 'SpendLink' }
  );

export type AddressEvent = ChatEvent<'LinkRequested' | 'LinkMailed' | 'LinkNotMailed' | 'LinkSpent'>;

const MOST_MAILS = 5;
export const WINDOW_MS = 15 * 60_000;

export const badLink: Rejection = {
  rejected: 'chat/bad-link',
  kind: 'unauthenticated',
  detail: 'The link is invalid, was used or has expired',
};

export const addressStream = (addressId: string): string => `chat.address-${addressId}`;

/** A link that can still be used. */
export function linkWith(
  { links }: AddressState,
  { purpose, linkId, now }: Pick<About, 'purpose' | 'linkId' | 'now'>,
): Link | undefined {
  const link = links[purpose];
  return link?.linkId === linkId && now < link.expiresAt ? link : undefined;
}

const initialState: AddressState = { links: {}, recent: [] };

/** A clock that was set back leaves times behind it that would count for as long as it is behind: they do not. */
const isWithin = (now: number) => (at: number) => Math.abs(now - at) < WINDOW_MS;

function decide(command: AddressCommand, state: AddressState): readonly AddressEvent[] | Rejection {
  const { addressId, purpose, linkId, now } = command;
  const about = { addressId, purpose, linkId };
  switch (command.type) {
    case 'RequestLink': {
      // Whoever asks is told nothing of it: the answer is the same.
      if (state.recent.filter(isWithin(now)).length >= MOST_MAILS) return [];
      const { expiresAt, userId, email } = command;
      const whose = userId === undefined ? {} : { userId };
      const data = { ...about, requestedAt: now, expiresAt, ...whose, secret: { email } };
      return [{ type: 'LinkRequested', data }];
    }
    case 'RecordMail':
      if (state.links[purpose]?.linkId !== linkId || state.links[purpose]?.isDone) return [];
      return command.isSent
        ? [{ type: 'LinkMailed', data: { ...about, mailedAt: now } }]
        : [{ type: 'LinkNotMailed', data: { ...about, failedAt: now } }];
    case 'SpendLink':
      if (!linkWith(state, command)) return badLink;
      return [{ type: 'LinkSpent', data: { ...about, spentAt: now } }];
  }
}

function done(
  { links, recent }: AddressState,
  { purpose, linkId }: { readonly purpose: Purpose; readonly linkId: string },
): AddressState {
  const link = links[purpose];
  return link?.linkId === linkId
    ? { links: { ...links, [purpose]: { ...link, isDone: true } }, recent }
    : { links, recent };
}

/** The rules look at no secret, so that they fold events as they stand in the log. */
export type FoldedAddress = AddressEvent | Sealed<AddressEvent>;

const evolve: Evolve<AddressState, FoldedAddress> = {
  LinkRequested: ({ links, recent }, { purpose, linkId, requestedAt, expiresAt, userId }) => ({
    links: { ...links, [purpose]: { linkId, expiresAt, userId, isDone: false } },
    recent: [...recent.filter(isWithin(requestedAt)), requestedAt],
  }),
  LinkMailed: done,
  LinkNotMailed: done,
  LinkSpent({ links, recent }, { purpose, linkId }) {
    const { [purpose]: spent, ...others } = links;
    return { links: spent?.linkId === linkId ? others : links, recent };
  },
};

export const address: Decider<AddressState, AddressCommand, AddressEvent, FoldedAddress> = {
  initialState,
  decide,
  evolve,
};
