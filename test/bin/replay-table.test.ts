/** The formats of a replay for auditors: the table on any terminal width, CSV and the tree. */
import { expect } from 'chai';
import type { RevealedEvent } from '../../application/ports/index.js';
import { csvPrinter, tablePrinter, treeLine } from '../../bin/commands/output.js';

const event = (data: object, actor = 'ada'): RevealedEvent =>
  ({
    recordedAt: Date.UTC(2026, 10, 22),
    position: 4711n,
    stream: 'rooms.room-nJZZJys3aT910kuDWLKYXQ',
    revision: 4,
    type: 'ParticipantJoined',
    metadata: { actor },
    data,
    erased: false,
  }) as unknown as RevealedEvent;

const many = { text: 'x'.repeat(2000) };

describe('replay table', () => {
  for (const columns of [40, 80, 100, 132, 160, 200])
    it(`shows event, subject and actor in ${columns} columns without broken lines`, () => {
      const [head = '', row = ''] = tablePrinter(columns)(event(many)).split('\n');
      expect(head).to.match(/^TIME +POSITION +STREAM +TYPE +ACTOR +DATA *$/);
      expect(row)
        .to.include('rooms.room-nJZZJys3aT910kuDWLKYXQ@4 ')
        .and.include(' ParticipantJoined ')
        .and.include(' ada ')
        .and.include('{"text":"xxxxxxxx');
      expect(row.length % columns).to.equal(0);
      expect(row.length).to.be.at.most(Math.max(columns, 160 + columns));
    });

  it('shows full values when everything fits', () => {
    expect(tablePrinter()(event(many))).to.include(JSON.stringify(many));
  });

  it('prints its header once', () => {
    const print = tablePrinter(80);
    expect(print(event({}))).to.match(/^TIME/);
    expect(print(event({}))).to.match(/^2026/);
  });

  it('strips control sequences written by strangers', () => {
    const row = tablePrinter()(event({ name: '\u009b2J\u202e' }, '\u001b[31m\u0007'));
    expect(row.replaceAll('\n', '')).not.to.match(/[\p{Cc}\u202e]/u);
    expect(row).to.include('\\u009b2J\\u202e').and.include('\\u001b[31m\\u0007');
  });
});

describe('replay as CSV', () => {
  it('has a head, quotes data, and lets no spreadsheet run a formula', () => {
    const print = csvPrinter();
    const [head, row] = print(event({ text: 'a, b' }, '=cmd|calc')).split('\n');
    expect(head?.split(',')).to.have.length(11).and.include('commandId');
    expect(row).to.equal(
      `2026-11-22T00:00:00.000Z,4711,rooms.room-nJZZJys3aT910kuDWLKYXQ,4,ParticipantJoined,'=cmd|calc,,,,false,"{""text"":""a, b""}"`,
    );
    expect(print(event({}))).to.match(/^2026/);
  });

  it('strips control sequences written by strangers', () => {
    const printed = csvPrinter()(event({ name: '\u009b2J' }, '\u001b[31m'));
    expect(printed.replaceAll('\n', '')).not.to.match(/\p{Cc}/u);
  });
});

describe('replay as a tree', () => {
  it('indents an event below its cause', () => {
    expect(treeLine({ event: event({ a: 1 }), depth: 2 })).to.equal(
      '    2026-11-22T00:00:00.000Z ParticipantJoined rooms.room-nJZZJys3aT910kuDWLKYXQ@4 ada {"a":1}\n',
    );
  });
});
