/** Use cases on channels: create, update, delete, list. */

import {
  CHANNELS,
  type Channel,
  type ChannelsCommand,
  type ChannelsState,
  channelsFor,
} from '../../../domain/chat/channels.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { type RosterState, userById } from '../../../domain/chat/roster.js';
import { isRejection, rejection } from '../../../domain/shared/index.js';
import type { CommandOutcome, CommandResult, Handled } from '../../command/index.js';
import { maxPosition } from '../../consistency/index.js';
import type { CommandContext, Position, Vault } from '../../ports/index.js';
import { channelsAggregate } from '../aggregates.js';
import type { Visibility } from '../messages/visibility.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';

export interface ChannelView {
  readonly id: string;
  readonly name: string;
  readonly topic?: string;
  readonly isPrivate: boolean;
  readonly members: readonly string[];
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt?: number;
}

/** Omits former users from members. */
export function channelView(roster: RosterState, channel: Channel): ChannelView {
  const { id, name, topic, isPrivate, members, createdBy, createdAt, updatedAt } = channel;
  return {
    id,
    name,
    ...(topic && { topic }),
    isPrivate,
    members: members.filter((each) => userById(roster, each)),
    createdBy,
    createdAt,
    ...(updatedAt !== undefined && { updatedAt }),
  };
}

export interface ChannelPorts extends Pick<ChatPorts, 'handle' | 'derivation' | 'clock' | 'admission'> {
  readonly vault: Pick<Vault, 'create' | 'destroy'>;
  readonly visibility: Visibility;
}

export interface ChannelInput {
  readonly name?: string;
  readonly topic?: string;
  readonly isPrivate?: boolean;
  readonly members?: readonly string[];
}

const unknownMember = rejection('chat/unknown-member', 'invalid', 'members must be ids of existing users');
const noChange = rejection('chat/no-change', 'invalid', 'Provide at least one of name, topic, isPrivate and members');

export type Channels = ReturnType<typeof createChannels>;

export function createChannels({ handle, vault, derivation, clock, admission, visibility }: ChannelPorts) {
  const viewOf = async (channel: Channel): Promise<ChannelView> =>
    channelView((await admission.roster()).state, channel);

  async function create(
    caller: Caller,
    { name, topic, isPrivate = false, members = [] }: ChannelInput & { readonly name: string },
    context: CommandContext,
  ): CommandOutcome<{ readonly channel: ChannelView }> {
    if (!(await admission.areUsers(members))) return unknownMember;
    const fields = { name, topic, isPrivate, members };
    const created = await createChannel({ by: caller.userId, asAdmin: caller.isAdmin, ...fields }, context);
    if (isRejection(created)) return created;
    const { channelId, outcome } = created;
    return resultFor(channelId, outcome);
  }

  /** Creates the default channel unless a channel has ever existed. */
  async function createDefault(by: string, name: string, context: CommandContext): Promise<void> {
    const created = await createChannel({ by, name, isPrivate: false, members: [], first: true }, context);
    if (isRejection(created)) throw new Error(`default channel was rejected: ${created.rejected}`);
  }

  async function createChannel(
    fields: Omit<Extract<ChannelsCommand, { type: 'CreateChannel' }>, 'type' | 'channelId' | 'now'>,
    context: CommandContext,
  ) {
    const channelId = derivation.id('chat.channel', context.commandId);
    // The key must exist before the event can be sealed.
    const createKey = () => vault.create(channelSubject({ channelId }));
    const command = { type: 'CreateChannel' as const, channelId, ...fields, now: clock.now() };
    const outcome = await handle(channelsAggregate, CHANNELS, command, context, createKey);
    return isRejection(outcome) ? outcome : { channelId, outcome };
  }

  async function resultFor(
    channelId: string,
    { state, position }: Handled<ChannelsState>,
  ): Promise<CommandResult<{ readonly channel: ChannelView }>> {
    const channel = (await state()).channels.get(channelId);
    if (!channel) throw new Error('changed channel is missing from the state');
    return { body: { channel: await viewOf(channel) }, position };
  }

  async function update(
    caller: Caller,
    channelId: string,
    { name, topic, isPrivate, members }: ChannelInput,
    context: CommandContext,
  ): CommandOutcome<{ readonly channel: ChannelView }> {
    if ([name, topic, isPrivate, members].every((each) => each === undefined)) return noChange;
    if (!(await admission.areUsers(members ?? []))) return unknownMember;
    const about = { channelId, by: caller, now: clock.now() };
    const command = { type: 'UpdateChannel' as const, ...about, name, topic, isPrivate, members };
    const outcome = await handle(channelsAggregate, CHANNELS, command, context);
    if (isRejection(outcome)) return outcome;
    const { body, position } = await resultFor(channelId, outcome);
    const { updatedAt = body.channel.createdAt } = body.channel;
    return { body: { channel: { ...body.channel, updatedAt } }, position };
  }

  /** Resolves once the deletion is in the log and the key is destroyed. A process manager does the rest. */
  async function remove(caller: Caller, channelId: string, context: CommandContext) {
    const command = { type: 'DeleteChannel' as const, channelId, by: caller, now: clock.now() };
    const outcome = await handle(channelsAggregate, CHANNELS, command, context);
    if (isRejection(outcome)) return outcome;
    await vault.destroy(channelSubject({ channelId }));
    return { body: { success: true }, position: outcome.position };
  }

  async function list(caller: Caller, seen?: Position) {
    const [channels, roster] = await Promise.all([visibility.channels(seen), admission.roster(seen)]);
    const visible = channelsFor(channels.state, caller);
    return {
      channels: viewsOf(roster.state, visible),
      position: maxPosition(channels.position, roster.position),
    };
  }

  return { create, createDefault, update, remove, list };
}

/** Generates views lazily, as there may be many large ones. */
function* viewsOf(roster: RosterState, channels: readonly Channel[]): Generator<ChannelView> {
  for (const each of channels) yield channelView(roster, each);
}
