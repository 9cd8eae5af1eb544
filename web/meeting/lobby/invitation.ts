/** The meeting that the address names. */
import { signal } from '@preact/signals';
import { invitationIn } from '../meeting/link.js';

export const invitation = signal(invitationIn(location.hash));

/** Reads the address again, which the meeting changes as well. */
export function updateInvitation(): void {
  invitation.value = invitationIn(location.hash);
}
addEventListener('hashchange', updateInvitation);
