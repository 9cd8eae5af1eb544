/** Repeated commands on two nodes or after a lost answer: executed once, answered alike. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { CommandResult } from '../../../application/command/index.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { roomAggregate } from '../../../application/rooms/aggregates.js';
import { createRoomCommands } from '../../../application/rooms/commands.js';
import { messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { envelope } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { done, type Node } from './node.js';
import { fails, newcomer, useTwoNodes, withKey } from './two-nodes.js';

type Outcome = CommandResult<object> | Rejection;

/** A request sent to two nodes concurrently; `body` distinguishes two bodies. */
type Ask = (node: Node, body: string, key: string) => Promise<Outcome>;

/** An append that succeeds and loses its answer; `meanwhile` runs in between. */
const withLostAnswer =
  (inner: EventLog['append'], meanwhile?: (stream: string) => Promise<unknown>): EventLog['append'] =>
  async (...args) => {
    await inner(...args);
    await meanwhile?.(args[0]);
    throw new UnavailableError('answer lost');
  };

describe('a repeated command', function () {
  this.timeout(120_000);
  const nodes = useTwoNodes();

  const inner = () => nodes.one.inner.append;
  const eventsOf = async (stream: string) => {
    const events = await nodes.one.kernel.log.read(stream);
    return typeof events === 'string' ? [] : events;
  };
  const burned = async (room: { roomId: string }, by: string) => {
    done(await nodes.one.commands.burn(room.roomId, by, context()));
    // Wait for the reaction to erase the room.
    for (;;) {
      const events = await eventsOf(roomStream(room.roomId));
      if (events.some(({ type }) => type === 'RoomErased')) return;
      await new Promise(setImmediate);
    }
  };

  describe('on two nodes concurrently', () => {
    const cases: { readonly [what: string]: () => Promise<{ ask: Ask; stream?: string; adds: number }> } = {
      create: async () => ({
        ask: (node, body, key) => node.commands.create(newcomer(body), 60_000, withKey(key, body)),
        adds: 2,
      }),
      async invite() {
        const room = await nodes.one.create('Ada');
        const ask: Ask = async (node, body, key) =>
          node.commands.invite(await node.admitted(room), `token-${body}-${key}`, withKey(key, body));
        return { ask, stream: roomStream(room.roomId), adds: 1 };
      },
      async join() {
        const room = await nodes.one.create('Ada');
        const token = `invite-${randomUUID()}`;
        done(await nodes.one.commands.invite(await nodes.one.admitted(room), token, context()));
        const ask: Ask = (node, body, key) =>
          node.commands.join(room.roomId, token, newcomer(body), withKey(key, body));
        return { ask, stream: roomStream(room.roomId), adds: 2 };
      },
      async post() {
        const room = await nodes.one.create('Ada');
        const ask: Ask = async (node, body, key) =>
          node.commands.post(await node.admitted(room), { ...envelope, ciphertext: body }, withKey(key, body));
        return { ask, stream: messagesStream(room.roomId), adds: 1 };
      },
      async burn() {
        const room = await nodes.one.create('Ada');
        const { participant } = await nodes.one.admitted(room);
        const ask: Ask = (node, body, key) => node.commands.burn(room.roomId, participant.id, withKey(key, body));
        return { ask, stream: roomStream(room.roomId), adds: 1 };
      },
    };

    for (const [what, prepare] of Object.entries(cases)) {
      const race = async (bodies: readonly [string, string]) => {
        const { ask, stream, adds } = await prepare();
        const key = randomUUID();
        // Both nodes have loaded the stream before the race.
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

      it(`answers two equal requests to ${what} identically`, async () => {
        const { outcomes, written, adds } = await race(['same', 'same']);
        expect(outcomes[1]).to.deep.equal(outcomes[0]);
        expect(isRejection(outcomes[0])).to.equal(false);
        if (what !== 'burn') expect(written).to.equal(adds);
      });

      it(`executes one of two requests to ${what} with different bodies and rejects the other`, async () => {
        const { outcomes, written, adds } = await race(['this', 'that']);
        const refused = outcomes.filter(isRejection);
        expect(refused).to.have.length(1);
        expect(refused[0]).to.include({ rejected: 'rooms/idempotency-key-reused' });
        if (what !== 'burn') expect(written).to.equal(adds);
      });
    }
  });

  describe('after a lost answer', () => {
    it('is recognised: a join is not rejected because its own invite is used', async () => {
      const room = await nodes.one.create('Ada');
      const token = `invite-${randomUUID()}`;
      done(await nodes.one.commands.invite(await nodes.one.admitted(room), token, context()));
      // A read in between caches the aggregate after the append, before its answer is lost.
      nodes.appends.push(
        withLostAnswer(inner(), (stream) => nodes.one.kernel.aggregates.reload(roomAggregate, stream)),
      );
      const { body } = done(await nodes.one.commands.join(room.roomId, token, newcomer('Bob'), context()));
      expect(body.participants.map(({ name }) => name)).to.deep.equal(['Ada', 'Bob']);
      expect(await nodes.one.admitted(body)).to.have.nested.property('participant.id', body.participantId);
      expect(await eventsOf(roomStream(room.roomId))).to.have.length(5);
    });

    it('is retried if nothing was stored', async () => {
      const room = await nodes.one.create('Ada');
      nodes.appends.push(fails, fails);
      done(await nodes.one.commands.post(await nodes.one.admitted(room), envelope, context()));
      expect(nodes.appends).to.deep.equal([]);
      expect(await eventsOf(messagesStream(room.roomId))).to.have.length(1);
    });

    it('notifies waiting readers like any other', async () => {
      const room = await nodes.one.create('Ada');
      const { aggregates, log, vault, derivation } = nodes.one.kernel;
      const notified: [string, bigint][] = [];
      const appended = (stream: string, position: bigint) => void notified.push([stream, position]);
      const losing = { ...log, append: withLostAnswer(log.append) };
      const road = commandsOf({ log: losing, aggregates, appended });
      const commands = createRoomCommands({ ...road, log, vault, derivation, clock: Date });
      const { position } = done(await commands.post(await nodes.one.admitted(room), envelope, context()));
      expect(notified).to.deep.equal([[messagesStream(room.roomId), position]]);
    });
  });

  it('is answered by a freshly started node with the first answer', async () => {
    const key = randomUUID();
    const create = (node: Node) => node.commands.create(newcomer('Ada'), 60_000, withKey(key, 'x'));
    const first = done(await create(nodes.one));
    const room = first.body;
    const token = `invite-${randomUUID()}`;
    done(await nodes.one.commands.invite(await nodes.one.admitted(room), token, context()));
    const bob = done(await nodes.one.commands.join(room.roomId, token, newcomer('Bob'), withKey(`${key}-2`, 'x')));
    const posted = await nodes.one.commands.post(await nodes.one.admitted(room), envelope, withKey(`${key}-3`, 'x'));
    done(await nodes.one.commands.post(await nodes.one.admitted(room), { ...envelope, messageIndex: 2 }, context()));
    expect(await create(nodes.other)).to.deep.equal(first);
    expect(
      await nodes.other.commands.join(room.roomId, token, newcomer('Bob'), withKey(`${key}-2`, 'x')),
    ).to.deep.equal(bob);
    const admitted = await nodes.other.admitted(room);
    expect(await nodes.other.commands.post(admitted, envelope, withKey(`${key}-3`, 'x'))).to.deep.equal(posted);
  });

  it('is rejected if its room has ended', async () => {
    const key = randomUUID();
    const create = (node: Node) => node.commands.create(newcomer('Ada'), 60_000, withKey(key, 'x'));
    const room = done(await create(nodes.one)).body;
    const admitted = await nodes.one.admitted(room);
    const token = `invite-${randomUUID()}`;
    const asks: { readonly [what: string]: (node: Node) => Promise<Outcome> } = {
      create,
      invite: (node) => node.commands.invite(admitted, token, withKey(`${key}-1`, 'x')),
      join: (node) => node.commands.join(room.roomId, token, newcomer('Bob'), withKey(`${key}-2`, 'x')),
      post: (node) => node.commands.post(admitted, envelope, withKey(`${key}-3`, 'x')),
    };
    for (const ask of Object.values(asks)) done((await ask(nodes.one)) as CommandResult<object>);
    // The other node has cached the room, and has not received its end.
    await nodes.other.admitted(room);
    await burned(room, admitted.participant.id);
    for (const node of [nodes.one, nodes.other]) {
      for (const [what, ask] of Object.entries(asks)) {
        expect(await ask(node), what).to.include({ rejected: 'rooms/room-not-found', kind: 'not-found' });
      }
    }
  });

  it('is rejected if its room has expired', async () => {
    const key = randomUUID();
    const create = () => nodes.one.commands.create(newcomer('Ada'), 60_000, withKey(key, 'x'));
    done(await create());
    nodes.goAhead(60_000);
    expect(await create()).to.include({ rejected: 'rooms/room-not-found' });
  });

  it('destroys the key before a burn is answered, even if the first run crashed in between', async () => {
    const room = await nodes.one.create('Ada');
    const { participant } = await nodes.one.admitted(room);
    const how = withKey(randomUUID(), 'x');
    const stream = roomStream(room.roomId);
    const { vault } = nodes.one.kernel;
    const destroy = vault.destroy;
    let answered = false;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const destroying = new Promise<void>((resolve) => {
      vault.destroy = async (subject) => {
        resolve();
        await released;
        return destroy(subject);
      };
    });
    const answer = nodes.one.commands.burn(room.roomId, participant.id, how).then((outcome) => {
      answered = true;
      return outcome;
    });
    await destroying;
    for (let round = 0; round < 100; round++) await new Promise(setImmediate);
    expect(answered, 'before the key is destroyed').to.equal(false);
    vault.destroy = destroy;
    const again = done(await nodes.one.commands.burn(room.roomId, participant.id, how));
    expect(await vault.seal(stream, {})).to.equal(undefined);
    release();
    expect(await answer).to.deep.equal(again);
  });
});
