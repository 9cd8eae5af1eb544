/** Describes how to sign in to the dashboard, for the start-up output. */
import type { AnnalsValues } from '../../settings.js';

/** @param adminToken The token in force. Shown only if it was generated, as it is configured nowhere then. */
export function describeSignIn(values: AnnalsValues, adminToken: string): string {
  const token = values['analytics.adminToken']
    ? 'analytics.adminToken'
    : // At the end of the line, to be copied.
      `the generated admin token (analytics.adminToken is not set): ${adminToken}`;
  return `sending hits is open to everyone; ${describeLinks(values)}; dashboard and API accept ${token}`;
}

/** The same in one clause, for the start table of a terminal. */
export const summarizeSignIn = (values: AnnalsValues, adminToken: string): string =>
  values['analytics.adminToken'] ? 'admin token: analytics.adminToken' : `admin token: ${adminToken}`;

function describeLinks(values: AnnalsValues): string {
  if (!hasAllowedEmails(values))
    return 'sign-in links are disabled; set analytics.allowedEmails or analytics.allowedDomains to enable them';
  if (values['email.host'] !== undefined)
    return 'the dashboard emails sign-in links to analytics.allowedEmails and analytics.allowedDomains';
  return values['auth.authMode'] === 'dev'
    ? 'sign-in links requested in the dashboard are printed in this log, as email.host is not set'
    : 'sign-in links cannot be sent; set email.host';
}

/** A warning if sign-in links are enabled and cannot be sent. */
export const unsentLinksWarning = (values: AnnalsValues): string | undefined =>
  hasAllowedEmails(values) && values['email.host'] === undefined && values['auth.authMode'] !== 'dev'
    ? 'analytics.allowedEmails or analytics.allowedDomains is set but email.host is not: sign-in links cannot be sent'
    : undefined;

const hasAllowedEmails = (values: AnnalsValues): boolean =>
  values['analytics.allowedEmails'].length + values['analytics.allowedDomains'].length > 0;
