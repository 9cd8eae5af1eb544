/** Helpers for the tests of encrypted rooms. */
import { httpSpec } from '../../support/http-spec.js';
import { type CallOptions, call, createRoom, joinRoom, type RoomClient } from '../../support/room-client.js';

export type RoomUnderTest = ReturnType<typeof roomUnderTest>;

/** `base` is known once the program has started. */
export const roomUnderTest = (base: () => string) => ({
  base,
  /** A new room with two participants. */
  async two() {
    const ada = await createRoom(base(), 'Ada');
    const bob = await joinRoom(base(), await ada.invite(), 'Bob');
    return { ada, bob };
  },
  ask: <Body = { error: string; code: string }>(method: string, path: string, more?: CallOptions) =>
    call<Body>(base(), method, path, more),
  as: ({ sessionToken }: RoomClient, more: CallOptions = {}) => ({ token: sessionToken, ...more }),
  ...httpSpec(base),
});
