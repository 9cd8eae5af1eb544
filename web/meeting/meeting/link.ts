/** The address of a meeting: its id behind `#`, with the title, as the service does not return it to people who join. */
import { state, ticket } from './state.js';

export interface Invitation {
  readonly roomId: string;
  readonly title: string;
}

const fragmentOf = ({ roomId, title }: Invitation) => `#${roomId}${title && `?${new URLSearchParams({ title })}`}`;

/** Undefined if the address names no meeting. */
export function invitationIn(hash: string): Invitation | undefined {
  const [id = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  try {
    const roomId = decodeURIComponent(id).toUpperCase();
    return roomId ? { roomId, title: (new URLSearchParams(query).get('title') ?? '').slice(0, 80) } : undefined;
  } catch {
    return undefined;
  }
}

const current = (): Invitation => ({ roomId: state.value.roomId, title: ticket.value?.title ?? '' });

/** Address with which others join the current meeting. */
export function meetingLink(): string {
  const link = new URL(location.href);
  link.hash = fragmentOf(current());
  return link.href;
}

/** Puts the current meeting into the address bar. */
export function showInAddress(): void {
  const fragment = fragmentOf(current());
  if (location.hash !== fragment) history.replaceState(null, '', fragment);
}
