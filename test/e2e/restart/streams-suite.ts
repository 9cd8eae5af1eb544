/** Streams of rooms and logs across server kills. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { EventSource } from 'eventsource';
import type { Kernel } from '../../../bin/node/kernel.js';
import { logClient, tailed } from '../../support/log-client.js';
import { createRoom, type RoomClient } from '../../support/room-client.js';
import type { Server } from '../../support/server-process.js';

/** A program that can be killed while its engines keep running. */
export interface Restarted {
  server(): Server;
  /** Another node on the same engines. */
  other(): Kernel;
  /** Resolves once the server runs. */
  serve(): Promise<void>;
  restart(): Promise<void>;
}

/** The next event after those of reconnects. */
const message = async (stream: Awaited<ReturnType<RoomClient['stream']>>) => {
  for (;;) {
    const event = await stream.next();
    if (event?.type !== 'CONNECTED') return event;
  }
};

export function streams({ server, other, serve, restart }: Restarted) {
  const rooms = () => server().urls.rooms ?? '';
  const logsUrl = () => server().urls.logs ?? '';
  const logs = () => logClient(logsUrl());

  it('resume a room without gaps or RESET, despite many events of others in between', async () => {
    await serve();
    const ada = await createRoom(rooms(), 'Ada');
    const first = await ada.stream();
    const one = await ada.post('one');
    expect(await message(first)).to.deep.include({ type: 'NEW_MESSAGE' });
    first.close();
    const two = await ada.post('two');
    const unrelated = Array.from({ length: 700 }, () => jsonEvent({ type: 'other', data: {} }));
    await other().client.appendToStream(`other.events-${randomUUID()}`, unrelated);
    await restart();
    const back = await ada.stream(first.cursor());
    const three = await ada.post('three');
    const received = [await message(back), await message(back)];
    expect(received.map((event) => (event?.payload as { id: string } | undefined)?.id)).to.deep.equal([
      two.id,
      three.id,
    ]);
    expect(one.id).not.to.equal(two.id);
    back.close();
  });

  it('send RESET only for cursors unknown to the log', async () => {
    await serve();
    const ada = await createRoom(rooms(), 'Ada');
    const url = () => `${logsUrl()}/api/logs/tail`;
    let connected = () => {};
    const connection = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const tailing = tailed(url(), (entries) => entries.length > 0, { connected });
    await connection;
    await logs().ingest([{ message: 'seen' }]);
    const { cursor = '' } = await tailing;
    const stream = await ada.stream();
    await stream.next();
    stream.close();
    await restart();

    for (const [lastEventId, reset] of [
      [cursor, false],
      ['9000000000000000', true],
    ] as const) {
      let opened = () => {};
      const opening = new Promise<void>((resolve) => {
        opened = resolve;
      });
      const back = tailed(url(), (entries) => entries.length > 0, { lastEventId, connected: opened });
      await opening;
      if (reset) await untilReset(url(), lastEventId);
      await logs().ingest([{ message: 'new' }]);
      const { entries, reset: received } = await back;
      expect([entries.map((entry) => entry.message), received]).to.deep.equal([['new'], reset]);
    }
    const same = await ada.stream(stream.cursor());
    const ahead = await ada.stream('9000000000000000');
    expect((await message(ahead))?.type).to.equal('RESET');
    await ada.post('new');
    for (const each of [same, ahead]) expect((await message(each))?.type).to.equal('NEW_MESSAGE');
    same.close();
    ahead.close();
  });

  /** Expects RESET for this cursor. */
  async function untilReset(url: string, lastEventId: string) {
    const stop = new AbortController();
    const { body } = await fetch(url, { headers: { 'last-event-id': lastEventId }, signal: stop.signal });
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes('RESET')) break;
    }
    stop.abort();
  }

  it('resume with an ordinary EventSource, for rooms and records', async () => {
    await serve();
    const ada = await createRoom(rooms(), 'Ada');
    const events: string[] = [];
    const listen = (url: string) => {
      const source = new EventSource(url);
      source.onmessage = ({ data }) => {
        const { type = 'RECORD', message: text = '' } = JSON.parse(data) as {
          type?: string;
          message?: string;
        };
        if (type !== 'CONNECTED') events.push(text || type);
      };
      const open = new Promise<void>((resolve) => {
        source.onopen = () => resolve();
      });
      return { source, open };
    };
    const expectEvent = (what: string) => eventually(() => events.includes(what));
    const room = listen(`${rooms()}/rooms/${ada.roomId}/events?token=${ada.sessionToken}`);
    const tail = listen(`${logsUrl()}/api/logs/tail?q=eventsource`);
    await Promise.all([room.open, tail.open]);
    await ada.post('one');
    await logs().ingest([{ message: 'eventsource one' }]);
    await Promise.all([expectEvent('NEW_MESSAGE'), expectEvent('eventsource one')]);
    await restart();
    await ada.post('two');
    await logs().ingest([{ message: 'eventsource two' }]);
    await expectEvent('eventsource two');
    await ada.burn();
    await expectEvent('ROOM_BURNED');
    expect(events.filter((each) => each.startsWith('eventsource'))).to.deep.equal([
      'eventsource one',
      'eventsource two',
    ]);
    // Her own join comes first if the node had not processed it when the stream began.
    const ofRoom = events.filter((each) => !each.startsWith('eventsource'));
    expect(ofRoom.slice(ofRoom[0] === 'PARTICIPANT_JOINED' ? 1 : 0)).to.deep.equal([
      'NEW_MESSAGE',
      'NEW_MESSAGE',
      'ROOM_BURNED',
    ]);
    room.source.close();
    tail.source.close();
  });
}
