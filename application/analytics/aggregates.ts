/** Aggregate definitions of the analytics service. */
import { catalog } from '../../domain/analytics/catalog.js';
import { retention } from '../../domain/analytics/retention.js';
import { sites } from '../../domain/analytics/sites.js';
import { visitors } from '../../domain/analytics/visitor-keys.js';
import { weeklyMails } from '../../domain/analytics/weekly-mail.js';
import { oneTimeLinks, SESSION_EVENTS, sessions } from '../../domain/shared/index.js';
import { aggregatesOf } from '../command/index.js';

const aggregate = aggregatesOf(catalog);

export const sitesAggregate = aggregate(sites);
export const visitorsAggregate = aggregate(visitors);
export const weeklyMailsAggregate = aggregate(weeklyMails);
export const retentionAggregate = aggregate(retention);
export const linksAggregate = aggregate(oneTimeLinks(catalog.service), { decrypts: 'none', maxAge: true });
/** Streams of unused addresses expire. */
export const sessionAggregate = aggregate(sessions<{ readonly email: string }>(catalog.service), {
  maxCount: SESSION_EVENTS,
  maxAge: true,
});
