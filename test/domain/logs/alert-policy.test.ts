/** The alert policy: partial changes, validation by field, and never enabled without a URL. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LIMITS } from '../../../domain/logs/alert-events.js';
import {
  type AlertPolicy,
  type AlertPolicyChanged,
  alertPolicy,
  type ChangeAlertPolicy,
} from '../../../domain/logs/alert-policy.js';
import { evolveOf, isRejection } from '../../../domain/shared/decider.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(alertPolicy);
const URL = 'https://hooks.example.com/T0/secret';
const change = (changes: ChangeAlertPolicy['changes'], refusedTarget?: string): ChangeAlertPolicy => ({
  type: 'ChangeAlertPolicy',
  changes,
  refusedTarget,
});
/** A partial event as written by earlier releases. */
const changed = (
  settings: AlertPolicyChanged['data']['settings'],
  secret: AlertPolicyChanged['data']['secret'] = {},
): AlertPolicyChanged => ({ type: 'AlertPolicyChanged', data: { settings, secret } });
/** A complete event with the given differences from the initial policy. */
const whole = ({ webhookUrl = null, ...others }: Partial<AlertPolicy>): AlertPolicyChanged => {
  const { webhookUrl: _, ...initial } = alertPolicy.initialState;
  const settings = { ...initial, ...others };
  return { type: 'AlertPolicyChanged', data: { settings, secret: { webhookUrl } } };
};
const INVALID = 'logs/invalid-alert-policy';

describe('the alert policy', () => {
  it('is disabled initially, with the documented defaults', () => {
    expect(alertPolicy.initialState).to.deep.equal({
      enabled: false,
      webhookUrl: null,
      intervalMs: 30_000,
      windowMinutes: 5,
      errorThreshold: 20,
      noLogsThresholdMinutes: 0,
      cooldownMs: 300_000,
      webhookTimeoutMs: 5000,
      webhookRetryAttempts: 3,
      webhookBackoffMs: 250,
    });
  });

  it('changes the given settings, and records all of them', () =>
    given(changed({ errorThreshold: 5 }), changed({}, { webhookUrl: URL }))
      .when(change({ windowMinutes: 10 }))
      .then(whole({ errorThreshold: 5, windowMinutes: 10, webhookUrl: URL })));

  it('stores the URL in the encrypted part of the event', () =>
    given()
      .when(change({ enabled: true, webhookUrl: URL }))
      .then(whole({ enabled: true, webhookUrl: URL })));

  it('does not change to equal settings', () =>
    given(changed({ enabled: true }, { webhookUrl: URL }))
      .when(change({ enabled: true, webhookUrl: URL, intervalMs: 30_000 }))
      .thenNothing());

  it('records a change without effect if the command requires it', () =>
    given(changed({ windowMinutes: 7 }))
      .when({ ...change({ windowMinutes: 7 }), alwaysRecord: true })
      .then(whole({ windowMinutes: 7 })));

  it('accepts an empty change', () => given().when(change({})).thenNothing());

  for (const [key, { min, max }] of Object.entries(LIMITS)) {
    it(`accepts ${key} from ${min} to ${max} only`, () => {
      for (const value of [min, max]) {
        expect(alertPolicy.decide(change({ [key]: value }), alertPolicy.initialState)).to.be.an('array');
      }
      for (const value of [min - 1, max + 1, min + 0.5, Number.NaN, `${min}`, null, true, [], {}]) {
        given()
          .when(change({ [key]: value }))
          .thenRejected(INVALID, { detail: `${key} must be a whole number from ${min} to ${max}` });
      }
    });
  }

  it('rejects unknown settings by name', () => {
    for (const key of ['threshold', 'webhook', '__proto__', 'constructor', 'hasOwnProperty', '']) {
      const changes = JSON.parse(`{"windowMinutes":6,${JSON.stringify(key)}:1}`);
      given()
        .when(change(changes))
        .thenRejected(INVALID, { detail: `${key} is not a setting of the alert policy` });
    }
  });

  it('rejects wrong types by name', () => {
    given()
      .when(change({ enabled: 'yes' }))
      .thenRejected(INVALID, { detail: 'enabled must be true or false' });
    given()
      .when(change({ enabled: null }))
      .thenRejected(INVALID, { detail: 'enabled must be true or false' });
    for (const webhookUrl of [7, true, {}, 'hooks.example.com', 'ftp://example.com/x', 'https://', 'javascript:1'])
      given()
        .when(change({ webhookUrl }))
        .thenRejected(INVALID, {
          detail: `webhookUrl must be ${typeof webhookUrl === 'string' ? 'an http or https URL' : 'a URL or null'}`,
        });
    given()
      .when(change({ webhookUrl: `${URL}/${'x'.repeat(2048)}` }))
      .thenRejected(INVALID, { detail: 'webhookUrl must be at most 2048 characters' });
  });

  it('cannot be enabled without a URL', () => {
    given()
      .when(change({ enabled: true }))
      .thenRejected(INVALID, { detail: 'enabled needs a webhookUrl' });
    given(changed({}, { webhookUrl: URL }))
      .when(change({ enabled: true, webhookUrl: '' }))
      .thenRejected(INVALID, { detail: 'enabled needs a webhookUrl' });
  });

  it('can be enabled with a URL set before', () =>
    given(changed({}, { webhookUrl: URL }))
      .when(change({ enabled: true }))
      .then(whole({ enabled: true, webhookUrl: URL })));

  it('is disabled when its URL is cleared', () => {
    for (const webhookUrl of [null, '', '  ']) {
      given(changed({ enabled: true }, { webhookUrl: URL }))
        .when(change({ webhookUrl }))
        .then(whole({}));
    }
  });

  it('rejects a forbidden URL with the reason', () =>
    given()
      .when(change({ webhookUrl: 'http://169.254.169.254/' }, 'it leads to a link-local address'))
      .thenRejected(INVALID, { detail: 'webhookUrl is not allowed: it leads to a link-local address' }));

  it('is disabled when the key of its URL is destroyed', () => {
    const erased = { webhookUrl: null };
    const state = [changed({ enabled: true, errorThreshold: 3 }, erased)].reduce(
      evolveOf(alertPolicy),
      alertPolicy.initialState,
    );
    expect(state).to.include({ enabled: false, webhookUrl: null, errorThreshold: 3 });
  });

  const changes = fc.record(
    {
      enabled: fc.oneof(fc.boolean(), fc.anything()),
      webhookUrl: fc.oneof(fc.constantFrom(URL, `${URL}2`, '', null), fc.anything()),
      intervalMs: fc.integer({ min: 0, max: 4000 }),
      cooldownMs: fc.oneof(fc.nat(), fc.anything()),
      windowMinutes: fc.integer({ min: 0, max: 9 }),
    },
    { requiredKeys: [] },
  );

  it('changes once under repeated changes, and has a URL while enabled, for any input', () => {
    fc.assert(
      fc.property(fc.array(changes), (attempts) => {
        let state: AlertPolicy = alertPolicy.initialState;
        for (const attempt of attempts) {
          const outcome = alertPolicy.decide(change(attempt), state);
          if (isRejection(outcome)) continue;
          state = outcome.reduce(evolveOf(alertPolicy), state);
          expect(alertPolicy.decide(change(attempt), state)).to.deep.equal([]);
          expect(state.enabled && state.webhookUrl === null).to.equal(false);
          expect(state.intervalMs).to.be.at.least(1000);
        }
      }),
    );
  });
});
