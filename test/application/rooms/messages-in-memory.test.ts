/** Messages of rooms over a log in memory: stored once, in order, paged. */
import { expect } from 'chai';
import type { Position } from '../../../application/ports/index.js';
import type { JoinResult } from '../../../application/rooms/commands.js';
import { envelope, NOON } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { useMemoryNodes } from './memory-node.js';
import { accepted, done, viewOf } from './node.js';

const iso = (at: number) => new Date(at).toISOString();

describe('in memory, the messages of a room', () => {
  const nodes = useMemoryNodes();
  const { create, admitted, post } = nodes;

  it('are stored as sent, with time and sender, and cannot be replayed', async () => {
    const room = await create();
    nodes.now += 500;
    const { body, position } = await post(room, 7);
    expect(body).to.deep.equal({
      ...envelope,
      messageIndex: 7,
      id: body.id,
      roomId: room.roomId,
      senderId: room.participantId,
      createdAt: iso(NOON + 500),
      expiresAt: room.expiresAt,
    });
    expect(position).to.equal(await nodes.one.head());
    const again = { ...envelope, messageIndex: 7 };
    expect(await nodes.one.commands.post(await admitted(room), again, context())).to.include({
      rejected: 'rooms/message-replayed',
    });
    for (const [member, value] of Object.entries(again)) {
      const changed = { ...again, [member]: typeof value === 'number' ? value + 1 : `${value}x` };
      done(await nodes.one.commands.post(await admitted(room), changed, context()));
    }
  });

  it('are answered alike when repeated', async () => {
    const room = await create();
    const how = context('message-1', 'the-body');
    const first = done(await nodes.one.commands.post(await admitted(room), envelope, how));
    nodes.now += 1000;
    expect(done(await nodes.other.commands.post(await admitted(room, nodes.other), envelope, how))).to.deep.equal(
      first,
    );
  });

  const stateOf = async (room: JoinResult, after?: string, seen?: Position, at = nodes.one) =>
    at.queries.state(await admitted(room, at), after, seen);

  it('are listed in order with the participants, or from a message on', async () => {
    const room = await create();
    const messages = [];
    for (const index of [0, 1, 2]) messages.push((await post(room, index)).body);
    const before = nodes.one.refreshed();
    const found = accepted(await stateOf(room));
    const { position, consistency } = found;
    expect(nodes.one.refreshed(), 'the rows suffice').to.equal(before);
    const { roomId, expiresAt, participants } = room;
    expect(viewOf(found)).to.deep.equal({ roomId, expiresAt, participants, messages });
    expect([position, consistency]).to.deep.equal([await nodes.one.head(), undefined]);
    const after = async (id: string) => viewOf(accepted(await stateOf(room, id))).messages;
    expect(await after(messages[0]!.id)).to.deep.equal(messages.slice(1));
    expect(await after(messages[2]!.id)).to.deep.equal([]);
    expect(await after('unknown')).to.deep.equal(messages);
  });

  it('wait for writes of this node and of the caller, and are "pending" when behind', async () => {
    const room = await create();
    await post(room);
    const head = await nodes.one.head();
    await stateOf(room);
    await stateOf(room, undefined, head + 500n);
    expect(nodes.one.waited).to.deep.equal([head, head + 500n]);
    const news = (await post(room, 1)).body;
    nodes.one.behind(1);
    const found = accepted(await stateOf(room));
    expect(found.consistency).to.equal('pending');
    expect(viewOf(found).messages.map(({ id }) => id))
      .to.have.length(1)
      .and.not.include(news.id);
    expect(found.position < (await nodes.one.head())).to.equal(true);
    // The room has no row yet, so its state is read from the log.
    nodes.one.behind(4);
    expect(viewOf(accepted(await stateOf(room))).participants).to.deep.equal(room.participants);
  });

  it('are omitted if corrupt, while participants come from the log', async () => {
    const room = await create();
    const [first, second] = [(await post(room, 0)).body, (await post(room, 1)).body];
    const [joined, message] = ['rooms.ParticipantJoined.v1', 'rooms.MessagePosted.v1'].map((type) =>
      nodes.world.all.find((each) => each.type === type),
    );
    const damage = (stored: unknown) => {
      const { data } = stored as { data: { secret: string } };
      data.secret = Buffer.from('not encrypted with any known key').toString('base64');
    };
    damage(message);
    const page = viewOf(accepted(await stateOf(room)));
    expect(page.messages).to.deep.equal([second]);
    expect(page.messages).not.to.deep.include(first);
    expect(page.participants).to.deep.equal(room.participants);
    damage(joined);
    expect(viewOf(accepted(await stateOf(room))).participants).to.deep.equal(room.participants);
  });
});
