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
import { isRejection, type Rejection, rejection } from '../../../domain/shared/index.js';
import { type CommandOutcome, type Handled, resultOf } from '../../command/index.js';
import { maxPosition } from '../../consistency/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { channelsAggregate } from '../aggregates.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';

export type ChannelView = Omit<Channel, 'number' | 'topic'> & Partial<Pick<Channel, 'topic'>>;

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

export type ChannelPorts = Pick<ChatPorts, 'handle' | 'derivation' | 'clock' | 'admission' | 'vault'>;

export interface ChannelInput {
  readonly name?: string;
  readonly topic?: string;
  readonly isPrivate?: boolean;
  readonly members?: readonly string[];
}

const unknownMember = rejection('chat/unknown-member', 'invalid', 'members must be ids of existing users');
const noChange = rejection('chat/no-change', 'invalid', 'Provide at least one of name, topic, isPrivate and members');

export type Channels = ReturnType<typeof createChannels>;

export function createChannels({ handle, vault, derivation, clock, admission }: ChannelPorts) {
  async function create(
    caller: Caller,
    { name, topic, isPrivate = false, members = [] }: ChannelInput & { readonly name: string },
    context: CommandContext,
  ) {
    if (!(await admission.areUsers(members))) return unknownMember;
    const fields = { name, topic, isPrivate, members };
    const by = { by: caller.userId, asAdmin: caller.isAdmin };
    const { channelId, outcome } = await createChannel({ ...by, ...fields }, context);
    return respond(channelId, outcome);
  }

  /** Creates the default channel unless a channel has ever existed. */
  async function createDefault(by: string, name: string, context: CommandContext): Promise<void> {
    const { outcome } = await createChannel({ by, name, isPrivate: false, members: [], first: true }, context);
    if (isRejection(outcome)) throw new Error(`default channel was rejected: ${outcome.rejected}`);
  }

  async function createChannel(
    fields: Omit<Extract<ChannelsCommand, { type: 'CreateChannel' }>, 'type' | 'channelId' | 'now'>,
    context: CommandContext,
  ) {
    const channelId = derivation.id('chat.channel', context.commandId);
    // The key must exist before the event can be sealed.
    const createKey = () => vault.create(channelSubject({ channelId }));
    const command = { type: 'CreateChannel' as const, channelId, ...fields, now: clock.now() };
    return { channelId, outcome: await handle(channelsAggregate, CHANNELS, command, context, createKey) };
  }

  const respond = (channelId: string, outcome: Handled<ChannelsState> | Rejection) =>
    resultOf(outcome, async ({ channels }) => {
      const channel = channels.get(channelId);
      if (!channel) throw new Error('changed channel is missing from the state');
      return { channel: channelView((await admission.roster()).state, channel) };
    });

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
    const result = await respond(channelId, await handle(channelsAggregate, CHANNELS, command, context));
    if (isRejection(result)) return result;
    const { channel } = result.body;
    return { ...result, body: { channel: { ...channel, updatedAt: channel.updatedAt ?? channel.createdAt } } };
  }

  /** Resolves once the deletion is in the log and the key is destroyed. A process manager does the rest. */
  async function remove(caller: Caller, channelId: string, context: CommandContext) {
    const command = { type: 'DeleteChannel' as const, channelId, by: caller, now: clock.now() };
    const outcome = await handle(channelsAggregate, CHANNELS, command, context);
    if (!isRejection(outcome)) await vault.destroy(channelSubject({ channelId }));
    return resultOf(outcome, { success: true });
  }

  async function list(caller: Caller, seen?: Position) {
    const [channels, roster] = await Promise.all([
      admission.load(channelsAggregate, CHANNELS, seen),
      admission.roster(seen),
    ]);
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
