/** Users and channels that the views of administration name. */
import { http } from '../api.js';

export interface Member {
  readonly id: string;
  readonly userName: string;
  readonly isAdmin: boolean;
  readonly createdAt: number;
}

export interface ChannelName {
  readonly id: string;
  readonly name: string;
}

export const loadMembers = async (signal: AbortSignal): Promise<readonly Member[]> =>
  (await http.json<{ users: readonly Member[] }>('GET', 'users', { signal })).users;

export const loadChannels = async (signal: AbortSignal): Promise<readonly ChannelName[]> =>
  (await http.json<{ channels: readonly ChannelName[] }>('GET', 'channels', { signal })).channels;

/** Names by id. */
export interface Names {
  readonly users: ReadonlyMap<string, string>;
  readonly channels: ReadonlyMap<string, string>;
}

export async function loadNames(signal: AbortSignal): Promise<Names> {
  const [users, channels] = await Promise.all([loadMembers(signal), loadChannels(signal)]);
  return {
    users: new Map(users.map(({ id, userName }) => [id, userName])),
    channels: new Map(channels.map(({ id, name }) => [id, name])),
  };
}
