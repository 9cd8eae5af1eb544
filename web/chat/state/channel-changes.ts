/** What a form changes of a channel. */
import type { Channel } from '../contract.js';

export interface ChannelInput {
  readonly name: string;
  readonly topic: string;
  readonly isPrivate: boolean;
  readonly members: readonly string[];
}

/**
 * The fields that differ from the channel when the form was opened. Who was added and removed there is applied to the
 * members of now: the service replaces all of them, and others may have changed them meanwhile.
 */
export function channelChanges(opened: Channel, now: Channel, input: ChannelInput): Partial<ChannelInput> {
  const added = input.members.filter((id) => !opened.members.includes(id));
  const removed = opened.members.filter((id) => !input.members.includes(id));
  const remaining = now.members.filter((id) => !removed.includes(id) && !added.includes(id));
  return {
    ...(input.name !== opened.name && { name: input.name }),
    ...(input.topic !== (opened.topic ?? '') && { topic: input.topic }),
    ...(input.isPrivate !== opened.isPrivate && { isPrivate: input.isPrivate }),
    ...(added.length + removed.length > 0 && { members: [...remaining, ...added] }),
  };
}
