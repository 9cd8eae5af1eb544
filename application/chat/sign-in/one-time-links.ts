/** One-time links sent by mail: request, issue, verify, use. */

import { linksSubject, PURPOSES } from '../../../domain/chat/events/sign-in.js';
import {
  type AddressState,
  addressStream,
  badLink,
  linkWith,
  type Purpose,
} from '../../../domain/chat/one-time-links.js';
import { isEmail, isRejection, type Rejection, tidyEmail } from '../../../domain/shared/index.js';
import type { Handled } from '../../command/index.js';
import type { CommandContext, EventLog, SignedTokens, Vault } from '../../ports/index.js';
import { addressAggregate } from '../aggregates.js';
import type { ChatPorts } from './authenticate.js';

export interface LinkPorts extends Pick<ChatPorts, 'handle' | 'aggregates' | 'derivation' | 'clock' | 'admission'> {
  readonly log: Pick<EventLog, 'retain'>;
  readonly vault: Pick<Vault, 'renew'>;
  readonly signed: SignedTokens;
  readonly isInviteRequired: boolean;
  readonly magicLinkExpirySeconds: number;
  readonly inviteExpirySeconds: number;
}

export interface OneTimeLinkToken {
  readonly addressId: string;
  readonly purpose: Purpose;
  readonly linkId: string;
  readonly email: string;
}

interface Issued extends Omit<OneTimeLinkToken, 'addressId'> {
  readonly requestedAt: number;
  readonly expiresAt: number;
}

export type Links = ReturnType<typeof createOneTimeLinks>;

const DAY_SECONDS = 86_400;

export function createOneTimeLinks(ports: LinkPorts) {
  const { handle, aggregates, log, vault, derivation, signed, admission, clock, isInviteRequired } = ports;
  const lifeSeconds: { readonly [purpose in Purpose]: number } = {
    'magic-link': ports.magicLinkExpirySeconds,
    reset: ports.magicLinkExpirySeconds,
    invite: ports.inviteExpirySeconds,
  };
  const longest = Math.max(...Object.values(lifeSeconds));

  const addressOf = (email: string) => derivation.id('chat.address', email);
  const audienceOf = (purpose: Purpose) => `annals:chat:${purpose}`;

  /** Does the same whether or not the address may have a link, so that it does not reveal users. */
  async function request(purpose: Purpose, rawEmail: string, context: CommandContext) {
    const email = tidyEmail(rawEmail);
    const addressId = addressOf(email);
    const stream = addressStream(addressId);
    const user = await admission.user({ email });
    const now = clock.now();
    // Whole seconds, as in the token.
    const expiresAt = (Math.floor(now / 1000) + lifeSeconds[purpose]) * 1000;
    const maySignUp = purpose === 'magic-link' && !isInviteRequired && isEmail(email);
    const command = {
      type: 'RequestLink' as const,
      addressId,
      purpose,
      linkId: derivation.id('chat.link', context.commandId),
      expiresAt,
      userId: user?.id,
      email: user || !maySignUp ? '' : email,
      now,
    };
    const createKeyAndRetention = async () => {
      const isNew = (await aggregates.load(addressAggregate, stream)).revision < 0;
      await Promise.all([
        vault.renew(linksSubject({ expiresAt })),
        isNew ? log.retain(stream, { maxAgeSeconds: longest + DAY_SECONDS }) : undefined,
      ]);
    };
    const outcome = await handle(addressAggregate, stream, command, context, createKeyAndRetention);
    return isRejection(outcome) ? outcome : { position: outcome.position };
  }

  return {
    request,

    /** Deterministic: the same link yields the same token. */
    token: ({ purpose, linkId, email, requestedAt, expiresAt }: Issued): Promise<string> =>
      signed.sign({
        sub: email,
        aud: audienceOf(purpose),
        jti: linkId,
        iat: Math.floor(requestedAt / 1000),
        exp: Math.floor(expiresAt / 1000),
      }),

    /** Verifies a token for one of the purposes; `email`, if present, must match. */
    async read(token: string | undefined, purposes: readonly Purpose[], email?: string) {
      const claims = token === undefined ? undefined : await signed.read(token);
      if (!claims) return badLink;
      const { sub, aud, jti: linkId } = claims;
      const purpose = PURPOSES.find((each) => audienceOf(each) === aud);
      if (!purpose || !purposes.includes(purpose)) return badLink;
      if (typeof sub !== 'string' || typeof linkId !== 'string') return badLink;
      if (email !== undefined && tidyEmail(email) !== sub) return badLink;
      return { addressId: addressOf(sub), purpose, linkId, email: sub };
    },

    spend: (
      { addressId, purpose, linkId }: OneTimeLinkToken,
      context: CommandContext,
    ): Promise<Handled<AddressState> | Rejection> =>
      handle(
        addressAggregate,
        addressStream(addressId),
        { type: 'SpendLink', addressId, purpose, linkId, now: clock.now() },
        context,
      ),

    async record(
      { addressId, purpose, linkId }: Omit<OneTimeLinkToken, 'email'>,
      isSent: boolean,
      context: CommandContext,
    ): Promise<void> {
      const about = { addressId, purpose, linkId, now: clock.now() };
      const command = { type: 'RecordMail' as const, ...about, isSent };
      const outcome = await handle(addressAggregate, addressStream(addressId), command, context);
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    },

    /** Whether this is the newest link of its purpose and its mail is not sent yet. */
    async isPending({ addressId, purpose, linkId }: Omit<OneTimeLinkToken, 'email'>): Promise<boolean> {
      const { state } = await aggregates.reload(addressAggregate, addressStream(addressId));
      const link = linkWith(state, { purpose, linkId, now: clock.now() });
      return link !== undefined && !link.isDone;
    },
  };
}
