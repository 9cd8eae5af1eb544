/** Routes of weekly mails: for people who are signed in, and to unsubscribe by the link of a mail. */
import type { WeeklyMails } from '../../../application/analytics/weekly-mail.js';
import { isRejection, object } from '../../../domain/shared/index.js';
import type { RateLimit } from '../server/client-network.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, SECURITY } from './admission.js';
import { tooManyRequests } from './policy.js';
import { weeklyMailAnswer } from './schemas.js';

export interface WeeklyMailRouteDeps {
  readonly weeklyMails: WeeklyMails;
  readonly admit: Admit<Admin>;
  readonly perNetwork: RateLimit;
}

export function weeklyMailRoutes({ weeklyMails, admit, perNetwork }: WeeklyMailRouteDeps): readonly Route[] {
  const common = { security: SECURITY, tags: ['Sites'], admit, path: '/api/sites/:id/weekly-mail' } as const;
  const answers = {
    200: { description: 'Whether the caller gets the mail', schema: weeklyMailAnswer },
    404: { description: 'Site not found' },
  };
  const answer = ({ session }: Admin, subscribed: boolean) => ({
    status: 200,
    body: { subscribed, email: session?.email ?? null },
  });

  const find = route({
    ...common,
    method: 'GET',
    summary: 'Whether the caller gets a weekly mail about the site',
    answers,
    async handle({ params }, admin) {
      const found = await weeklyMails.find(params.id, admin.session);
      return isRejection(found) ? found : answer(admin, found);
    },
  });

  const subscribe = route({
    ...common,
    method: 'PUT',
    summary: 'Get a mail about the site each Monday at 8:00',
    description:
      'A summary of the week from Monday to Sunday, in UTC. Where 8:00 is before its end, the mail is sent at its end. ' +
      'After a pause of the service only the newest mail is sent.',
    body: object({ timeZone: { type: 'string', maxLength: 64, description: 'IANA name, such as `Europe/Berlin`' } }),
    answers: {
      ...answers,
      403: {
        description: `The caller has no email address, as with the admin token. ${CROSS_ORIGIN_ANSWER.description}`,
      },
      409: { description: '`email.host` is not set' },
    },
    async handle({ params, body, context }, admin) {
      const { actor, session } = admin;
      const done = await weeklyMails.subscribe(params.id, session, body.timeZone, context(actor, actor));
      return isRejection(done) ? done : { ...answer(admin, true), position: done.position };
    },
  });

  const unsubscribe = route({
    ...common,
    method: 'DELETE',
    summary: 'Get no more weekly mails about the site',
    answers: { ...answers, 403: CROSS_ORIGIN_ANSWER },
    async handle({ params, context }, admin) {
      const { actor, session } = admin;
      const done = await weeklyMails.unsubscribe(params.id, session, context(actor, actor));
      return isRejection(done) ? done : { ...answer(admin, false), position: done.position };
    },
  });

  const unsubscribeByLink = route({
    method: 'POST',
    path: '/unsubscribe',
    tags: ['Sites'],
    summary: 'Unsubscribe from a weekly mail by its link, without sign-in',
    description: 'For mail programs (RFC 8058) and the page at the same address. Succeeds again after the first time.',
    query: object({ token: { type: 'string', minLength: 1, maxLength: 200 } }),
    answers: {
      200: { description: 'There will be no more mails', schema: weeklyMailAnswer },
      404: { description: 'The link is not valid' },
    },
    async handle({ query, address, context }) {
      const retryAfterMs = await perNetwork.spend(address);
      if (retryAfterMs !== undefined) return tooManyRequests(retryAfterMs);
      const contextOf = (subscriptionId: string) => context('analytics.unsubscribe', subscriptionId);
      const done = await weeklyMails.unsubscribeByToken(query.token, contextOf);
      return isRejection(done)
        ? done
        : { status: 200, body: { subscribed: false, email: null }, position: done.position };
    },
  });

  return [find, subscribe, unsubscribe, unsubscribeByLink];
}
