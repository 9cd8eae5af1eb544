/** The connection to the service: messages to it, and what it changes. */
import { toast } from '../../shared/components/toasts.js';
import type { ClientMessage, Flags, ServerMessage } from '../protocol/messages.js';
import { createSession } from '../protocol/session.js';
import { texts } from '../texts.js';
import { state } from './state.js';

const url = new URL('ws', location.href);
url.protocol = url.protocol.replace('http', 'ws');
url.hash = '';

let listener: (message: ServerMessage) => void = () => {};

export const session = createSession(url, {
  onStateChange: (next) => {
    state.value = next;
  },
  onMessage: (message) => listener(message),
});

/** Sets what handles messages that are not part of the state. */
export function listen(handle: (message: ServerMessage) => void): void {
  listener = handle;
}

/** Sends a message without queueing; shows a notice if there is no connection. */
export function send(message: ClientMessage): boolean {
  const isSent = session.send(message);
  if (!isSent) toast({ text: texts.notices.notDone, tone: 'bad' });
  return isSent;
}

/** Changes our own flags here and for the others. */
export const changeFlags = (flags: Partial<Flags>): void =>
  session.change(flags, { type: 'participant-updated', ...flags });
