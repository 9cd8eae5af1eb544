/** What the service says by codes, in words for people. */

const TEXTS: { readonly [code: string]: string } = {
  ROOM_FULL: 'The meeting is full.',
  INVALID_PASSWORD: 'That is not the password of this meeting.',
  ROOM_NOT_FOUND: 'There is no such meeting, or it is over.',
  UNAUTHORIZED: 'Only moderators can do that.',
  NOT_JOINED: 'You are not in the meeting.',
  TARGET_NOT_FOUND: 'They are not in the meeting any more.',
};

/** Other codes come with a sentence of the service's own. */
export function errorText(
  { code, message }: { readonly code: string; readonly message: string },
  request?: { readonly password?: string },
): string {
  if (code === 'INVALID_PASSWORD' && !request?.password) return 'This meeting has a password.';
  return TEXTS[code] ?? message;
}
