/** The same command again, on two nodes or after its answer was lost: it is done once, and told as the first time. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { roomAggregate } from '../../../application/rooms/aggregates.js';
import { type CommandResult, createRoomCommands } from '../../../application/rooms/commands.js';
import { messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { envelope } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { done, type Node } from './node.js';
import { fails, keyed, newcomer, useTwoNodes } from './two-nodes.js';

type Outcome = CommandResult<object> | Rejection;

/** One of the requests that two nodes get at once; `body` tells two bodies apart. */
type Ask = (node: Node, body: string, key: string) => Promise<Outcome>;

/** An append that is done, but whose answer never comes; `meanwhile` comes in between. */
const loses =
  (inner: EventLog['append'], meanwhile?: (stream: string) => Promise<unknown>): EventLog['append'] =>
  async (...args) => {
    await inner(...args);
    await meanwhile?.(args[0]);
    throw new UnavailableError('the answer was lost');
  };

describe('the same command again', function () {
  this.timeout(120_000);
  const nodes = useTwoNodes();

  const inner = () => nodes.one.inner.append;
  const eventsOf = async (stream: string) => {
    const events = await nodes.one.kernel.log.read(stream);
    return typeof events === 'string' ? [] : events;
  };
  const burned = async (room: { roomId: string }, by: string) => {
    done(await nodes.one.commands.burn(room.roomId, by, context()));
    // Until all that follows has been done.
    for (;;) {
      const events = await eventsOf(roomStream(room.roomId));
      if (events.some(({ type }) => type === 'RoomErased')) return;
      await new Promise(setImmediate);
    }
  };

  describe('on two nodes at once', () => {
    const cases: { readonly [what: string]: () => Promise<{ ask: Ask; stream?: string; adds: number }> } = {
      create: async () => ({
        ask: (node, body, key) => node.commands.create(newcomer(body), 60_000, keyed(key, body)),
        adds: 2,
      }),
      async invite() {
        const room = await nodes.one.create('Ada');
        const ask: Ask = async (node, body, key) =>
          node.commands.invite(await node.admitted(room), `token-${body}-${key}`, keyed(key, body));
        return { ask, stream: roomStream(room.roomId), adds: 1 };
      },
      async join() {
        const room = await nodes.one.create('Ada');
        const token = `invite-${randomUUID()}`;
        done(await nodes.one.commands.invite(await nodes.one.admitted(room), token, context()));
        const ask: Ask = (node, body, key) => node.commands.join(room.roomId, token, newcomer(body), keyed(key, body));
        return { ask, stream: roomStream(room.roomId), adds: 2 };
      },
      async post() {
        const room = await nodes.one.create('Ada');
        const ask: Ask = async (node, body, key) =>
          node.commands.post(await node.admitted(room), { ...envelope, ciphertext: body }, keyed(key, body));
        return { ask, stream: messagesStream(room.roomId), adds: 1 };
      },
      async burn() {
        const room = await nodes.one.create('Ada');
        const { participant } = await nodes.one.admitted(room);
        const ask: Ask = (node, body, key) => node.commands.burn(room.roomId, participant.id, keyed(key, body));
        return { ask, stream: roomStream(room.roomId), adds: 1 };
      },
    };

    for (const [what, prepare] of Object.entries(cases)) {
      const race = async (bodies: readonly [string, string]) => {
        const { ask, stream, adds } = await prepare();
        const key = randomUUID();
        // Both nodes know the stream as it is before the race.
        const before = stream ? (await eventsOf(stream)).length : 0;
        for (const node of [nodes.one, nodes.other]) {
          if (stream?.startsWith('rooms.room-')) await node.authenticator.open(stream.slice(11), 1n << 60n);
        }
        nodes.awaitAppends(2);
        const outcomes = await Promise.all([ask(nodes.one, bodies[0], key), ask(nodes.other, bodies[1], key)]);
        const first = outcomes.find((outcome) => 'body' in outcome) as CommandResult<{ roomId?: string }> | undefined;
        const written = (await eventsOf(stream ?? roomStream(first?.body.roomId ?? ''))).length - before;
        return {
          outcomes,
          written,
          adds,
          again: () => Promise.all([ask(nodes.one, bodies[0], key), ask(nodes.other, bodies[1], key)]),
        };
      };

      it(`tells both the same of one ${what}, to the byte`, async () => {
        const { outcomes, written, adds } = await race(['same', 'same']);
        expect(outcomes[1]).to.deep.equal(outcomes[0]);
        expect(isRejection(outcomes[0])).to.equal(false);
        if (what !== 'burn') expect(written).to.equal(adds);
      });

      it(`takes one of two bodies of one ${what}, and tells the other that its key is used`, async () => {
        const { outcomes, written, adds } = await race(['this', 'that']);
        const refused = outcomes.filter(isRejection);
        expect(refused).to.have.length(1);
        expect(refused[0]).to.include({ rejected: 'rooms/idempotency-key-reused' });
        if (what !== 'burn') expect(written).to.equal(adds);
      });
    }
  });

  describe('after its answer was lost', () => {
    it("is found, and is nobody else's: who has joined is not told that the invite is used", async () => {
      const room = await nodes.one.create('Ada');
      const token = `invite-${randomUUID()}`;
      done(await nodes.one.commands.invite(await nodes.one.admitted(room), token, context()));
      // Somebody looks at the room in between: what is remembered of it holds the lost append then.
      nodes.appends.push(loses(inner(), (stream) => nodes.one.kernel.streams.reload(roomAggregate, stream)));
      const { body } = done(await nodes.one.commands.join(room.roomId, token, newcomer('Bob'), context()));
      expect(body.participants.map(({ name }) => name)).to.deep.equal(['Ada', 'Bob']);
      expect(await nodes.one.admitted(body)).to.have.nested.property('participant.id', body.participantId);
      expect(await eventsOf(roomStream(room.roomId))).to.have.length(5);
    });

    it('is tried again when nothing was stored', async () => {
      const room = await nodes.one.create('Ada');
      nodes.appends.push(fails, fails);
      done(await nodes.one.commands.post(await nodes.one.admitted(room), envelope, context()));
      expect(nodes.appends).to.deep.equal([]);
      expect(await eventsOf(messagesStream(room.roomId))).to.have.length(1);
    });

    it('is told to who waits for it, like any other', async () => {
      const room = await nodes.one.create('Ada');
      const { streams, log, vault, derivation } = nodes.one.kernel;
      const told: [string, bigint][] = [];
      const appended = (stream: string, position: bigint) => void told.push([stream, position]);
      const losing = { ...log, append: loses(log.append) };
      const road = commandsOf({ log: losing, streams, appended });
      const commands = createRoomCommands({ ...road, log, vault, derivation, clock: Date });
      const { position } = done(await commands.post(await nodes.one.admitted(room), envelope, context()));
      expect(told).to.deep.equal([[messagesStream(room.roomId), position]]);
    });
  });

  it('is answered as the first time by a node that has just started, with what was so then', async () => {
    const key = randomUUID();
    const create = (node: Node) => node.commands.create(newcomer('Ada'), 60_000, keyed(key, 'x'));
    const first = done(await create(nodes.one));
    const room = first.body;
    const token = `invite-${randomUUID()}`;
    done(await nodes.one.commands.invite(await nodes.one.admitted(room), token, context()));
    const bob = done(await nodes.one.commands.join(room.roomId, token, newcomer('Bob'), keyed(`${key}-2`, 'x')));
    const said = await nodes.one.commands.post(await nodes.one.admitted(room), envelope, keyed(`${key}-3`, 'x'));
    done(await nodes.one.commands.post(await nodes.one.admitted(room), { ...envelope, messageIndex: 2 }, context()));
    expect(await create(nodes.other)).to.deep.equal(first);
    expect(await nodes.other.commands.join(room.roomId, token, newcomer('Bob'), keyed(`${key}-2`, 'x'))).to.deep.equal(
      bob,
    );
    const admitted = await nodes.other.admitted(room);
    expect(await nodes.other.commands.post(admitted, envelope, keyed(`${key}-3`, 'x'))).to.deep.equal(said);
  });

  it('finds nothing of a room that has ended, whatever it was', async () => {
    const key = randomUUID();
    const create = (node: Node) => node.commands.create(newcomer('Ada'), 60_000, keyed(key, 'x'));
    const room = done(await create(nodes.one)).body;
    const admitted = await nodes.one.admitted(room);
    const token = `invite-${randomUUID()}`;
    const asks: { readonly [what: string]: (node: Node) => Promise<Outcome> } = {
      create,
      invite: (node) => node.commands.invite(admitted, token, keyed(`${key}-1`, 'x')),
      join: (node) => node.commands.join(room.roomId, token, newcomer('Bob'), keyed(`${key}-2`, 'x')),
      post: (node) => node.commands.post(admitted, envelope, keyed(`${key}-3`, 'x')),
    };
    for (const ask of Object.values(asks)) done((await ask(nodes.one)) as CommandResult<object>);
    // The other node knows the room, and is not told of its end.
    await nodes.other.admitted(room);
    await burned(room, admitted.participant.id);
    for (const node of [nodes.one, nodes.other]) {
      for (const [what, ask] of Object.entries(asks)) {
        expect(await ask(node), what).to.include({ rejected: 'rooms/room-not-found', kind: 'not-found' });
      }
    }
  });

  it('finds nothing of a room whose time is up', async () => {
    const key = randomUUID();
    const create = () => nodes.one.commands.create(newcomer('Ada'), 60_000, keyed(key, 'x'));
    done(await create());
    nodes.goAhead(60_000);
    expect(await create()).to.include({ rejected: 'rooms/room-not-found' });
  });

  it('burns with the key destroyed before it is told, also when the first run died in between', async () => {
    const room = await nodes.one.create('Ada');
    const { participant } = await nodes.one.admitted(room);
    const how = keyed(randomUUID(), 'x');
    const stream = roomStream(room.roomId);
    const { vault } = nodes.one.kernel;
    const destroy = vault.destroy;
    let told = false;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      vault.destroy = async (subject) => {
        resolve();
        await released;
        return destroy(subject);
      };
    });
    const answer = nodes.one.commands.burn(room.roomId, participant.id, how).then((outcome) => {
      told = true;
      return outcome;
    });
    await asked;
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(told, 'before the key is gone').to.equal(false);
    vault.destroy = destroy;
    const again = done(await nodes.one.commands.burn(room.roomId, participant.id, how));
    expect(await vault.seal(stream, {})).to.equal(undefined);
    release();
    expect(await answer).to.deep.equal(again);
  });
});
