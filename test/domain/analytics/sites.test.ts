/** Sites: registered once per id, changed, deleted, and registered again as new instances. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseSiteFields, parseSiteId, suggestSiteId } from '../../../domain/analytics/site-fields.js';
import { MAX_SITES, type SitesCommand, sites, sortSites } from '../../../domain/analytics/sites.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { changeSite, deleteSite, registered, registerSite, secretOf } from '../../support/analytics-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(sites);

describe('a site', () => {
  it('can be registered', () => {
    given().when(registerSite('demo')).then(registered('demo'));
  });

  it('cannot be registered twice under one id', () => {
    given(registered('demo'))
      .when(registerSite('demo', 'two'))
      .thenRejected('analytics/site-exists', { kind: 'invalid' });
  });

  it('changes only the given fields', () => {
    given(registered('demo'))
      .when(changeSite('demo', { name: 'Other' }))
      .then({
        type: 'SiteChanged',
        data: { siteId: 'demo', instance: 'one', changedAt: 2000, secret: { name: 'Other' } },
      });
  });

  it('does not change if all fields are equal', () => {
    given(registered('demo'))
      .when(changeSite('demo', { ...secretOf('demo') }))
      .thenNothing();
  });

  it('is not found before registration or after deletion', () => {
    for (const command of [changeSite('demo', {}), deleteSite('demo')]) {
      given().when(command).thenRejected('analytics/site-not-found', { kind: 'not-found' });
      const { events } = run([registerSite('demo'), deleteSite('demo')]);
      given(...events)
        .when(command)
        .thenRejected('analytics/site-not-found');
    }
  });

  it('is a new instance when registered again', () => {
    const { state } = run([
      registerSite('demo'),
      changeSite('demo', { name: 'X' }),
      deleteSite('demo'),
      registerSite('demo', 'two'),
    ]);
    expect(state.get('demo')).to.include({ instance: 'two', name: 'demo', createdAt: 1000 });
  });

  it('allows nothing if its content cannot be decrypted', () => {
    const erased = { name: '', domains: [], allowedEventProperties: [], tokenHash: null };
    const state = specOf(sites).after([
      { ...registered('demo'), data: { ...registered('demo').data, secret: erased } },
    ]);
    expect(state.get('demo')).to.deep.include({ domains: [], tokenHash: null });
  });

  it('is shared by one link at a time, until that is revoked', () => {
    const share = (linkId: string): SitesCommand => ({ type: 'ShareSite', siteId: 'demo', linkId, now: 2000 });
    const unshare: SitesCommand = { type: 'UnshareSite', siteId: 'demo', now: 3000 };
    const of = { siteId: 'demo', instance: 'one' };
    const shared = { type: 'SiteShared', data: { ...of, linkId: 'l', sharedAt: 2000 } } as const;
    const unshared = { type: 'SiteUnshared', data: { ...of, unsharedAt: 3000 } } as const;
    given(registered('demo')).when(share('l')).then(shared);
    given(registered('demo'), shared).when(share('other')).thenNothing();
    given(registered('demo'), shared).when(unshare).then(unshared);
    given(registered('demo')).when(unshare).thenNothing();
    for (const command of [share('l'), unshare]) given().when(command).thenRejected('analytics/site-not-found');
    const linkOf = (...commands: readonly SitesCommand[]) =>
      run([registerSite('demo'), ...commands]).state.get('demo')?.linkId;
    expect([linkOf(share('l')), linkOf(share('l'), unshare), linkOf(share('l'), unshare, share('m'))]).to.deep.equal([
      'l',
      null,
      'm',
    ]);
    // A link ends with its site, also if the id is used again.
    expect(linkOf(share('l'), deleteSite('demo'), registerSite('demo', 'two'))).to.equal(null);
    expect(linkOf(share('l'), changeSite('demo', { name: 'New' }))).to.equal('l');
  });

  it('is limited to ten thousand', () => {
    let full = sites.initialState;
    const data = registered('demo').data;
    for (let index = 0; index < MAX_SITES; index++)
      full = sites.evolve.SiteRegistered(full, { ...data, siteId: `s${index}` });
    expect(sites.decide(registerSite('demo'), full)).to.include({ rejected: 'analytics/too-many-sites' });
  });

  it('keeps its instance under commands on other sites', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const command: fc.Arbitrary<SitesCommand> = fc.oneof(
      fc.tuple(id, fc.uuid()).map(([siteId, instance]) => registerSite(siteId, instance)),
      fc.tuple(id, fc.string()).map(([siteId, name]) => changeSite(siteId, { name })),
      id.map(deleteSite),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const { events, state } = run(commands);
        const alive = new Map<string, string>();
        for (const { type, data } of events) {
          if (type === 'SiteRegistered') expect(alive.has(data.siteId)).to.equal(false);
          else expect(alive.get(data.siteId)).to.equal(data.instance);
          if (type === 'SiteDeleted') alive.delete(data.siteId);
          else alive.set(data.siteId, data.instance);
        }
        expect(new Map([...state].map(([siteId, { instance }]) => [siteId, instance]))).to.deep.equal(alive);
      }),
    );
  });

  it('is listed by name', () => {
    const { state } = run([
      registerSite('b'),
      registerSite('a', 'two'),
      registerSite('c', 'three'),
      changeSite('c', { name: 'A' }),
    ]);
    expect(sortSites(state).map(({ siteId }) => siteId)).to.deep.equal(['c', 'a', 'b']);
  });
});

describe('the fields of a site', () => {
  for (const [input, id] of [
    [' My Shop ', 'my_shop'],
    ['shop-2_b', 'shop-2_b'],
    ['', undefined],
    ['a/b', undefined],
    ['ä', undefined],
    ['x'.repeat(80), 'x'.repeat(80)],
    ['x'.repeat(81), undefined],
  ] as const) {
    it(`parse the id ${JSON.stringify(input.slice(0, 20))} as ${id?.slice(0, 20)}`, () =>
      expect(parseSiteId(input)).to.equal(id));
  }

  it('derive an id from a name', () => {
    expect(suggestSiteId("Ada's  Shop!")).to.equal('adas_shop');
    expect(suggestSiteId('Läden')).to.equal('lden');
    expect(suggestSiteId('店')).to.equal(undefined);
    expect(suggestSiteId('x'.repeat(120))).to.equal('x'.repeat(80));
  });

  it('reduce domains to host names, given as list or text', () => {
    const hosts = ['example.com', 'shop.example'];
    expect(parseSiteFields({ domains: ['https://Example.com/a', 'shop.example:80', 'EXAMPLE.com', ''] })).to.deep.equal(
      {
        domains: hosts,
      },
    );
    expect(parseSiteFields({ domains: 'example.com, \r\n https://shop.example\n' })).to.deep.equal({
      domains: hosts,
    });
  });

  it('omit missing fields', () => expect(parseSiteFields({})).to.deep.equal({}));

  for (const [what, fields] of [
    ['a blank name', { name: ' ' }],
    ['a name of 121 characters', { name: 'x'.repeat(121) }],
    ['an invalid domain', { domains: ['exa mple'] }],
    ['101 domains', { domains: Array.from({ length: 101 }, (_, index) => `d${index}.example`) }],
    ['101 properties', { allowedEventProperties: Array.from({ length: 101 }, (_, index) => `p${index}`) }],
    ['a property of 81 characters', { allowedEventProperties: ['x'.repeat(81)] }],
    ['21 goals', { goals: Array.from({ length: 21 }, (_, index) => `g${index}`) }],
    ['a goal of 81 characters', { goals: ['x'.repeat(81)] }],
  ] as const) {
    it(`reject ${what}`, () => expect(isRejection(parseSiteFields(fields))).to.equal(true));
  }

  it('accept values of maximum length', () => {
    const name = '👋'.repeat(120);
    expect(parseSiteFields({ name, allowedEventProperties: ['x'.repeat(80), ' x '] })).to.deep.equal({
      name,
      allowedEventProperties: ['x'.repeat(80), 'x'],
    });
    const hundred = (ending = '') => Array.from({ length: 100 }, (_, index) => `n${index}${ending}`);
    const most = { domains: hundred('.example'), allowedEventProperties: hundred() };
    expect(parseSiteFields(most)).to.deep.equal(most);
  });
});
