/**
 * One-time links of an email address: one per purpose, usable once, at most 5 mails in 15 minutes. Stream
 * `chat.address-<digest>`.
 */

import { type Decider, type Evolve, type Rejection, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { PURPOSES } from './events/sign-in.js';

export type Purpose = (typeof PURPOSES)[number];

export interface Link {
  readonly linkId: string;
  readonly expiresAt: number;
  readonly userId: string | undefined;
  /** Mail sent or given up. */
  readonly isDone: boolean;
}

export interface AddressState {
  /** Newest unused link of each purpose. */
  readonly links: { readonly [purpose in Purpose]?: Link };
  /** Times of the requests within 15 minutes before the newest. */
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

const MAX_MAILS = 5;
export const WINDOW_MS = 15 * 60_000;

export const badLink = rejection('chat/bad-link', 'unauthenticated', 'The link is invalid, was used or has expired');

export const addressStream = (addressId: string): string => `chat.address-${addressId}`;

export function linkWith(
  { links }: AddressState,
  { purpose, linkId, now }: Pick<About, 'purpose' | 'linkId' | 'now'>,
): Link | undefined {
  const link = links[purpose];
  return link?.linkId === linkId && now < link.expiresAt ? link : undefined;
}

const initialState: AddressState = { links: {}, recent: [] };

/** Absolute difference: after a clock was set back, times in the future must not count for long. */
const isWithin = (now: number) => (at: number) => Math.abs(now - at) < WINDOW_MS;

function decide(command: AddressCommand, state: AddressState): readonly AddressEvent[] | Rejection {
  const { addressId, purpose, linkId, now } = command;
  const about = { addressId, purpose, linkId };
  switch (command.type) {
    case 'RequestLink': {
      // Over the limit the answer is the same, so that it reveals nothing.
      if (state.recent.filter(isWithin(now)).length >= MAX_MAILS) return [];
      const { expiresAt, userId, email } = command;
      const owner = userId === undefined ? {} : { userId };
      const data = { ...about, requestedAt: now, expiresAt, ...owner, secret: { email } };
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

function markDone(
  { links, recent }: AddressState,
  { purpose, linkId }: { readonly purpose: Purpose; readonly linkId: string },
): AddressState {
  const link = links[purpose];
  return link?.linkId === linkId
    ? { links: { ...links, [purpose]: { ...link, isDone: true } }, recent }
    : { links, recent };
}

const evolve: Evolve<AddressState, AddressEvent> = {
  LinkRequested: ({ links, recent }, { purpose, linkId, requestedAt, expiresAt, userId }) => ({
    links: { ...links, [purpose]: { linkId, expiresAt, userId, isDone: false } },
    recent: [...recent.filter(isWithin(requestedAt)), requestedAt],
  }),
  LinkMailed: markDone,
  LinkNotMailed: markDone,
  LinkSpent({ links, recent }, { purpose, linkId }) {
    const { [purpose]: spent, ...others } = links;
    return { links: spent?.linkId === linkId ? others : links, recent };
  },
};

export const address: Decider<AddressState, AddressCommand, AddressEvent> = {
  initialState,
  decide,
  evolve,
};
