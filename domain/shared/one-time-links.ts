/**
 * One-time links mailed to an email address: one per purpose, usable once, at most 5 mails in 15 minutes. Stream
 * `<service>.address-<digest>`.
 */
import { type Decider, type EventOf, type Evolve, event, type Rejection, rejection } from './decider.js';
import { flag, id, object, text, time } from './schema.js';

const link = {
  /** Keyed digest of the email. */
  addressId: id,
  /** Such as `invite`, from a list of the service. */
  purpose: id,
  linkId: id,
} as const;

/** Creates the events of a service. `subject` names the key that seals the address until the link expires. */
export const linkEvents = (subject: (link: { readonly expiresAt: number }) => string) =>
  ({
    /**
     * Appended whether or not the address may have a link, so that the log does not reveal users; the mail is decided
     * later.
     */
    LinkRequested: event(
      object(
        {
          ...link,
          requestedAt: time,
          expiresAt: time,
          /** Empty if the address is known as that of a user, or may not have a link. */
          secret: object({ email: text }),
        },
        { userId: id },
      ),
      { sealed: { subject, erased: { email: '' } } },
    ),
    /** `isSent`: whether the mail server accepted the mail, or it was given up; the server's answer is not stored. */
    LinkMailed: event(object({ ...link, mailedAt: time, isSent: flag })),
    LinkSpent: event(object({ ...link, spentAt: time })),
  }) as const;

export type LinkEvent = EventOf<{ readonly events: ReturnType<typeof linkEvents> }>;

export interface Link {
  readonly linkId: string;
  readonly expiresAt: number;
  /** Mail sent or given up. */
  readonly isDone: boolean;
}

export interface LinksState {
  /** Newest unused link by purpose. */
  readonly links: { readonly [purpose: string]: Link };
  /** Times of the requests within 15 minutes before the newest. */
  readonly recent: readonly number[];
}

interface About {
  readonly addressId: string;
  readonly purpose: string;
  readonly linkId: string;
  readonly now: number;
}

export type LinkCommand = About &
  (
    | { type: 'RequestLink'; expiresAt: number; userId?: string | undefined; email: string }
    | { type: 'RecordMail'; isSent: boolean }
    | { type: 'SpendLink' }
  );

const MAX_MAILS = 5;
const WINDOW_MS = 15 * 60_000;

/** Rejection of a link that cannot be used. */
export const badLinkOf = (service: string): Rejection =>
  rejection(`${service}/bad-link`, 'unauthenticated', 'The link is invalid, was used or has expired');

export const addressStream = (service: string, addressId: string): string => `${service}.address-${addressId}`;

/** Returns the newest link of its purpose if it has this id and can still be used. */
export function usableLink(
  { links }: LinksState,
  { purpose, linkId, now }: Pick<About, 'purpose' | 'linkId' | 'now'>,
): Link | undefined {
  const link = links[purpose];
  return link?.linkId === linkId && now < link.expiresAt ? link : undefined;
}

/** Absolute difference: after a clock was set back, times in the future must not count for long. */
const isWithin = (now: number) => (at: number) => Math.abs(now - at) < WINDOW_MS;

function markDone(state: LinksState, { purpose, linkId }: Pick<About, 'purpose' | 'linkId'>): LinksState {
  const link = state.links[purpose];
  if (link?.linkId !== linkId) return state;
  return { ...state, links: { ...state.links, [purpose]: { ...link, isDone: true } } };
}

const evolve: Evolve<LinksState, LinkEvent> = {
  LinkRequested: ({ links, recent }, { purpose, linkId, requestedAt, expiresAt }) => ({
    links: { ...links, [purpose]: { linkId, expiresAt, isDone: false } },
    recent: [...recent.filter(isWithin(requestedAt)), requestedAt],
  }),
  LinkMailed: markDone,
  LinkSpent({ links, recent }, { purpose, linkId }) {
    const { [purpose]: spent, ...others } = links;
    return { links: spent?.linkId === linkId ? others : links, recent };
  },
};

/** Creates the decider of the links of a service. */
export const oneTimeLinks = (service: string): Decider<LinksState, LinkCommand, LinkEvent> => ({
  initialState: { links: {}, recent: [] },
  decide(command, state) {
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
        return [{ type: 'LinkMailed', data: { ...about, mailedAt: now, isSent: command.isSent } }];
      case 'SpendLink':
        if (!usableLink(state, command)) return badLinkOf(service);
        return [{ type: 'LinkSpent', data: { ...about, spentAt: now } }];
    }
  },
  evolve,
});
