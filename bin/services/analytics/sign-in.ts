/** How people get into the dashboard, as the start-up output says it. */
import type { AnnalsValues } from '../../settings.js';

/** `adminToken`: the one in force; it is told only where it was made here, as nobody else knows it then. */
export function signInLine(values: AnnalsValues, adminToken: string): string {
  const token = values['analytics.adminToken']
    ? 'analytics.adminToken'
    : // Last, to be copied.
      `this admin token, as analytics.adminToken is not set: ${adminToken}`;
  return `anybody may send hits; ${linksOf(values)}; the dashboard, and the API as a bearer token, take ${token}`;
}

function linksOf(values: AnnalsValues): string {
  if (!isAnybodyAllowed(values))
    return 'links to sign in are for nobody, until analytics.allowedEmails or analytics.allowedDomains says for whom';
  if (values['email.host'] !== undefined)
    return 'the dashboard mails a link to sign in to those of analytics.allowedEmails and analytics.allowedDomains';
  return values['auth.authMode'] === 'dev'
    ? 'a link to sign in that is asked for in the dashboard is told in this log, as email.host is not set'
    : 'links to sign in reach nobody, as email.host is not set';
}

/** What is wrong where somebody may sign in by a link, and links go nowhere. */
export const unmailedLinks = (values: AnnalsValues): string | undefined =>
  isAnybodyAllowed(values) && values['email.host'] === undefined && values['auth.authMode'] !== 'dev'
    ? 'analytics.allowedEmails or analytics.allowedDomains is set and email.host is not: nobody is mailed a link to sign in'
    : undefined;

const isAnybodyAllowed = (values: AnnalsValues): boolean =>
  values['analytics.allowedEmails'].length + values['analytics.allowedDomains'].length > 0;
