/** Every event of meetings: what the decider emits fits its schema, and what was ever written can still be read. */
import { expect } from 'chai';
import { catalog as meeting, meetingSubject } from '../../../domain/meeting/catalog.js';
import { room } from '../../../domain/meeting/room.js';
import type { Catalog } from '../../../domain/shared/catalog.js';
import { specOf } from '../../support/decider-spec.js';
import { expectGoldens, fitting } from '../../support/golden.js';
import { everything, meetingId } from '../../support/meeting.js';

const catalog: Catalog = meeting;
const fits = fitting(catalog.events);
const emitted = specOf(room).run(everything).events;

describe('the catalog of meetings', () => {
  it('has every event that is ever emitted, and no other', () => {
    expect(Object.keys(catalog.events)).to.have.members([...new Set(emitted.map(({ type }) => type))]);
  });

  it('fits what is emitted, and nothing that lacks something', () => {
    for (const { type, data } of emitted) {
      expect(fits(type, 1, data), type).to.equal(true);
      const needed = catalog.events[type]?.versions[0]?.schema.required as readonly string[];
      for (const member of needed) {
        const rest = Object.fromEntries(Object.entries(data).filter(([name]) => name !== member));
        expect(fits(type, 1, rest), `${type} without ${member}`).to.equal(false);
      }
    }
  });

  it('seals names, titles and reasons under the meeting, with fallbacks that fit', () => {
    for (const { type, data } of emitted) {
      const sealing = catalog.events[type]?.sealed;
      expect(!!sealing, type).to.equal('secret' in data);
      if (!sealing) continue;
      expect(sealing.subject(data)).to.equal(meetingSubject({ meetingId }));
      expect(fits(type, 1, { ...data, secret: sealing.erased })).to.equal(true);
    }
  });

  it('says which event ends the meeting’s key', () => {
    const ending = Object.entries(catalog.events).filter(([, { erases }]) => erases);
    expect(ending.map(([type]) => type)).to.deep.equal(['MeetingErased']);
  });

  it('has a fixture of every version ever written, which can still be read', () => expectGoldens(catalog));
});
