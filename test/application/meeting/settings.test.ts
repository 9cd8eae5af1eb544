/** Combinations of meeting settings that are rejected. */
import { expect } from 'chai';
import { meetingRules, meetingSettings, turnServerOf } from '../../../application/meeting/settings.js';

type Values = Parameters<(typeof meetingRules)[number]>[0];

const valuesOf = (settings: object) => {
  const defaults = Object.entries(meetingSettings).map(([key, setting]) => [
    key,
    'default' in setting ? setting.default : undefined,
  ]);
  return { ...Object.fromEntries(defaults), ...settings } as Values;
};
const keys = (settings: object) => meetingRules.flatMap((rule) => rule(valuesOf(settings)) ?? []).map(({ key }) => key);

describe('the settings of the meeting service', () => {
  const url = { 'meeting.turn.url': 'turn:turn.example' };
  const secret = { 'meeting.turn.secret': 'shared' };
  const guest = { 'meeting.turn.username': 'guest', 'meeting.turn.credential': 'word' };

  it('may stay at their defaults, or name a TURN server with one kind of credentials', () => {
    for (const fine of [{}, { ...url, ...secret }, { ...url, ...guest }])
      expect(keys(fine), JSON.stringify(fine)).to.deep.equal([]);
    expect(turnServerOf(valuesOf({}))).to.equal(undefined);
    const urls = 'turn:turn.example';
    expect(turnServerOf(valuesOf({ ...url, ...secret }))).to.deep.equal({ urls, secret: 'shared' });
    const named = { urls, username: 'guest', credential: 'word' };
    expect(turnServerOf(valuesOf({ ...url, ...guest }))).to.deep.equal(named);
  });

  it('require complete credentials of one kind for a TURN server', () => {
    expect(keys(url)).to.deep.equal(['meeting.turn.url']);
    expect(keys(secret)).to.deep.equal(['meeting.turn.url']);
    expect(keys(guest)).to.deep.equal(['meeting.turn.url']);
    expect(keys({ ...url, 'meeting.turn.username': 'guest' })).to.deep.equal(['meeting.turn.url']);
    expect(keys({ ...url, ...secret, ...guest })).to.deep.equal(['meeting.turn.secret']);
  });
});
