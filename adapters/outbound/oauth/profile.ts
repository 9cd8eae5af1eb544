/** Who somebody is by what providers answer, each in words of its own. */
import type { Profile } from '../../../application/ports/index.js';

type Answer = { readonly [member: string]: unknown };

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const first = (answer: Answer, ...names: readonly string[]) =>
  names.map((name) => text(answer[name])).find((value) => value !== undefined);

/** Where providers say what somebody's address is. */
const ADDRESSES = ['email', 'mail', 'userPrincipalName'] as const;

/** An address that the provider itself says is not known to be theirs is none; nor is one outside of `addresses`. */
export function profileOf(answer: Answer, addresses: readonly string[] = ADDRESSES): Profile {
  return {
    email: isDoubted(answer) ? undefined : first(answer, ...addresses),
    name: first(answer, 'name', 'displayName', 'preferred_username', 'username', 'login'),
  };
}

/** Providers say it in words of their own, of which none but a yes is one; who says nothing of it is believed. */
const isDoubted = ({ email_verified, emailVerified, verified_email, confirmed_at }: Answer): boolean =>
  [email_verified, emailVerified, verified_email].some((said) => said !== undefined && !YES.includes(said)) ||
  (confirmed_at !== undefined && text(confirmed_at) === undefined);

const YES: readonly unknown[] = [true, 'true', 1, '1'];

/** The primary one of a list, if it is verified; else any that is. */
export function emailOf(list: unknown): string | undefined {
  const verified = (Array.isArray(list) ? (list as Answer[]) : []).filter((each) => each?.verified === true);
  return text((verified.find(({ primary }) => primary === true) ?? verified[0])?.email);
}
