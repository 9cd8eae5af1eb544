/** The signed-in user: by session cookie, or by the admin token that is stored for this tab. */
import { signal } from '@preact/signals';
import { stored } from '../shared/storage.js';
import type { User } from './contract.js';

export type SessionState =
  | { readonly state: 'starting' }
  /** `reason`: why the user was signed out. `link`: from a mail, used when the user confirms it. */
  | { readonly state: 'signed-out'; readonly reason: string; readonly link?: SignInLink }
  | { readonly state: 'signed-in'; readonly user: User };

export interface SignInLink {
  readonly token: string;
  readonly email: string | undefined;
}

export const session = signal<SessionState>({ state: 'starting' });

/** `sessionStorage` lasts as long as the tab. */
export const adminToken = stored<string | undefined>('analytics.admin-token', undefined, () => sessionStorage);

export function enter(user: User): void {
  session.value = { state: 'signed-in', user };
}

/** Shows the sign-in with a reason. */
export function endSession(reason: string): void {
  adminToken.remove();
  session.value = { state: 'signed-out', reason };
}
