/** Combinations of the meetings' settings that must not run. */
import { expect } from 'chai';
import { meetingRules, meetingSettings, turnServerOf } from '../../../application/meeting/settings.js';

type Values = Parameters<(typeof meetingRules)[number]>[0];

const valuesOf = (given: object) => {
  const defaults = Object.entries(meetingSettings).map(([key, setting]) => [
    key,
    'default' in setting ? setting.default : undefined,
  ]);
  return { ...Object.fromEntries(defaults), ...given } as Values;
};
const keys = (given: object) => meetingRules.flatMap((rule) => rule(valuesOf(given)) ?? []).map(({ key }) => key);

describe('the settings of the meetings', () => {
  const url = { 'meeting.turn.url': 'turn:turn.example' };
  const secret = { 'meeting.turn.secret': 'shared' };
  const guest = { 'meeting.turn.username': 'guest', 'meeting.turn.credential': 'word' };

  it('may be left as they are, or name a TURN server with one way to sign in to it', () => {
    for (const fine of [{}, { ...url, ...secret }, { ...url, ...guest }])
      expect(keys(fine), JSON.stringify(fine)).to.deep.equal([]);
    expect(turnServerOf(valuesOf({}))).to.equal(undefined);
    const urls = 'turn:turn.example';
    expect(turnServerOf(valuesOf({ ...url, ...secret }))).to.deep.equal({ urls, secret: 'shared' });
    const named = { urls, username: 'guest', credential: 'word' };
    expect(turnServerOf(valuesOf({ ...url, ...guest }))).to.deep.equal(named);
  });

  it('need all of it, and not both ways', () => {
    expect(keys(url)).to.deep.equal(['meeting.turn.url']);
    expect(keys(secret)).to.deep.equal(['meeting.turn.url']);
    expect(keys(guest)).to.deep.equal(['meeting.turn.url']);
    expect(keys({ ...url, 'meeting.turn.username': 'guest' })).to.deep.equal(['meeting.turn.url']);
    expect(keys({ ...url, ...secret, ...guest })).to.deep.equal(['meeting.turn.secret']);
  });
});
