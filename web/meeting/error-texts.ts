/** Texts for the error codes of the service. */

const TEXTS: { readonly [code: string]: string } = {
  ROOM_FULL: 'The meeting is full.',
  INVALID_PASSWORD: 'Wrong password.',
  ROOM_NOT_FOUND: 'This meeting does not exist, or it has ended.',
  UNAUTHORIZED: 'Only moderators can do that.',
  NOT_JOINED: 'You are not in the meeting.',
  TARGET_NOT_FOUND: 'This participant has left the meeting.',
};

/** Falls back to the message of the service. */
export function errorText(
  { code, message }: { readonly code: string; readonly message: string },
  request?: { readonly password?: string },
): string {
  if (code === 'INVALID_PASSWORD' && !request?.password) return 'This meeting requires a password.';
  return TEXTS[code] ?? message;
}
