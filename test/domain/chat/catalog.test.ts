/** Every event of the chat: what deciders emit fits its schema, and what was ever written can still be read. */
import { expect } from 'chai';
import { catalog as chat } from '../../../domain/chat/catalog.js';
import { roster } from '../../../domain/chat/roster.js';
import { session } from '../../../domain/chat/session.js';
import type { Catalog } from '../../../domain/shared/catalog.js';
import type { DomainEvent } from '../../../domain/shared/decider.js';
import {
  add,
  admin,
  changeRole,
  eraseUser,
  leave,
  MINUTE,
  NOON,
  open,
  refresh,
  register,
  remove,
  rename,
} from '../../support/chat.js';
import { specOf } from '../../support/decider-spec.js';
import { expectGoldens, fitting } from '../../support/golden.js';

const catalog: Catalog = chat;
const fits = fitting(catalog.events);

const emitted: readonly DomainEvent[] = [
  ...specOf(roster).run(
    [
      add('bob'),
      register('carol'),
      rename('bob', 'Bob'),
      changeRole('bob', true),
      remove('bob'),
      leave('carol'),
      eraseUser('bob'),
    ],
    [admin('ada')],
  ).events,
  ...specOf(session).run([
    open('one'),
    refresh('one', 0, NOON + MINUTE),
    { type: 'EndSession', userId: 'ada', sessionId: 'one', reason: 'logout', now: NOON + MINUTE },
  ]).events,
];

const OPTIONAL = ['by'];

describe('the catalog of the chat', () => {
  it('has every event that is ever emitted, and no other', () => {
    expect(Object.keys(catalog.events)).to.have.members([...new Set(emitted.map(({ type }) => type))]);
  });

  for (const { type, data } of emitted) {
    it(`fits ${type} as it is emitted`, () => {
      expect(fits(type, catalog.events[type]?.versions.length ?? 0, data)).to.equal(true);
    });
  }

  it('refuses an event that lacks something', () => {
    for (const { type, data } of emitted) {
      for (const member of Object.keys(data).filter(
        (each) => type !== 'UserAdded' || !OPTIONAL.includes(each),
      )) {
        const rest = Object.fromEntries(Object.entries(data).filter(([name]) => name !== member));
        expect(fits(type, 1, rest), `${type} without ${member}`).to.equal(false);
      }
    }
  });

  it('seals what tells who somebody is under a key of theirs, with fallbacks that fit', () => {
    for (const { type, data } of emitted) {
      const sealing = catalog.events[type]?.sealed;
      expect(!!sealing, type).to.equal('secret' in data);
      if (!sealing) continue;
      expect(sealing.subject(data)).to.equal(`chat.user-${data.userId}`);
      expect(fits(type, 1, { ...data, secret: sealing.erased })).to.equal(true);
    }
  });

  it('says which events end a key', () => {
    const ending = Object.entries(catalog.events).filter(([, { erases }]) => erases);
    expect(ending.map(([type]) => type)).to.have.members(['UserErased']);
  });

  it('has a fixture of every version ever written, which can still be read', () => expectGoldens(catalog));
});
