/** The words for specifying a catalog: what deciders emit fits it, and what was ever written can still be read. */
import { expect } from 'chai';
import type { Catalog, DomainEvent } from '../../domain/shared/decider.js';
import { expectGoldens, fitting } from './golden.js';

export interface Emitted {
  readonly catalog: Catalog;
  /** Each event of the catalog at least once, as deciders make it. */
  readonly emitted: readonly DomainEvent[];
  /** Whose key seals what of an event is secret. */
  readonly subjectOf: (data: DomainEvent['data']) => string;
  /** Those that end a key. */
  readonly ending: readonly string[];
  /** Members that events may lack, by type. */
  readonly optional?: { readonly [type: string]: readonly string[] };
}

/** To be called within `describe`. */
export function specifyCatalog({ catalog, emitted, subjectOf, ending, optional = {} }: Emitted): void {
  const { events } = catalog;
  const fits = fitting(events);

  it('has every event that is ever emitted, and no other', () => {
    expect(Object.keys(events)).to.have.members([...new Set(emitted.map(({ type }) => type))]);
  });

  for (const { type, data } of emitted) {
    it(`fits ${type} as it is emitted`, () => {
      expect(fits(type, events[type]?.versions.length ?? 0, data)).to.equal(true);
    });
  }

  it('refuses an event that lacks something', () => {
    for (const { type, data } of emitted) {
      for (const member of Object.keys(data).filter((each) => !optional[type]?.includes(each))) {
        const rest = Object.fromEntries(Object.entries(data).filter(([name]) => name !== member));
        expect(fits(type, 1, rest), `${type} without ${member}`).to.equal(false);
      }
    }
  });

  it('seals what is secret, and nothing else, under the key of whose it is, with fallbacks that fit', () => {
    for (const { type, data } of emitted) {
      const sealing = events[type]?.sealed;
      expect(!!sealing, type).to.equal('secret' in data);
      if (!sealing) continue;
      expect(sealing.subject(data), type).to.equal(subjectOf(data));
      expect(fits(type, 1, { ...data, secret: sealing.erased }), type).to.equal(true);
    }
  });

  it('says which events end a key', () => {
    const erasing = Object.entries(events).filter(([, { erases }]) => erases);
    expect(erasing.map(([type]) => type)).to.have.members(ending);
  });

  it('has a fixture of every version ever written, which can still be read', () => expectGoldens(catalog));
}
