/** Reads profiles from the answers of OAuth providers, which use different field names. */
import type { Profile } from '../../../application/ports/index.js';

type Answer = { readonly [member: string]: unknown };

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const first = (answer: Answer, ...names: readonly string[]) =>
  names.map((name) => text(answer[name])).find((value) => value !== undefined);

/** Fields in which providers return the email address. */
const EMAIL_FIELDS = ['email', 'mail', 'userPrincipalName'] as const;

/**
 * Returns the profile. Ignores an address that the provider marks as unverified, and fields other than
 * `addresses`.
 */
export function profileOf(answer: Answer, addresses: readonly string[] = EMAIL_FIELDS): Profile {
  return {
    email: isUnverified(answer) ? undefined : first(answer, ...addresses),
    name: first(answer, 'name', 'displayName', 'preferred_username', 'username', 'login'),
  };
}

/**
 * Whether the provider marks the address as unverified, in any of the known fields. Without such a field it is
 * trusted.
 */
const isUnverified = ({ email_verified, emailVerified, verified_email, confirmed_at }: Answer): boolean =>
  [email_verified, emailVerified, verified_email].some((flag) => flag !== undefined && !TRUE_VALUES.includes(flag)) ||
  (confirmed_at !== undefined && text(confirmed_at) === undefined);

const TRUE_VALUES: readonly unknown[] = [true, 'true', 1, '1'];

/** Returns the primary address of a list if it is verified, else any verified one. */
export function emailOf(list: unknown): string | undefined {
  const verified = (Array.isArray(list) ? (list as Answer[]) : []).filter((each) => each?.verified === true);
  return text((verified.find(({ primary }) => primary === true) ?? verified[0])?.email);
}
